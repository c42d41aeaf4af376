/* The page of an automation follows what happens elsewhere; “More” closes when one leaves it. */
(function () {
  "use strict";

  function menus() {
    return document.querySelectorAll("details.more[open]");
  }
  document.addEventListener("click", function (event) {
    menus().forEach(function (menu) {
      if (!menu.contains(event.target)) menu.open = false;
    });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key !== "Escape" || document.querySelector("dialog:modal")) return;
    menus().forEach(function (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  });

  /* A look waits while nobody looks, while something is open or on its way, and while stopped. */
  function held(live) {
    return document.hidden || live.hasAttribute("data-stopped") || menus().length > 0 ||
      !!document.querySelector("dialog[open], form[data-busy]");
  }
  function say(live, name) {
    var state = document.getElementById("live-state");
    state.textContent = state.getAttribute("data-" + name);
    var button = live.querySelector("[data-follow]");
    button.textContent = button.getAttribute(name === "on" ? "data-on" : "data-off");
  }
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-follow]");
    if (!button) return;
    var live = document.getElementById("live");
    say(live, live.toggleAttribute("data-stopped") ? "off" : "on");
  });

  /* Whoever stands on a link or button of a part that is shown anew stands on it afterwards, or,
     where it is gone, on what has come to its place: “Resume” for “Pause”. */
  var stood = null;
  function stops(part) {
    return Array.prototype.slice.call(part.querySelectorAll("a[href], button, summary"));
  }
  function name(stop) {
    return [stop.tagName, stop.getAttribute("href"), stop.textContent.trim()].join(" ");
  }
  function standing() {
    var stop = document.activeElement;
    var part = stop && stop.closest("[id]:not(main):not(a):not(button)");
    if (!part || part === stop) return null;
    var all = stops(part);
    var alike = all.filter(function (other) { return name(other) === name(stop); });
    return { stop: stop, part: part.id, place: all.indexOf(stop), nth: alike.indexOf(stop) };
  }
  function stay() {
    var was = stood;
    stood = null;
    if (!was || was.place < 0 || document.contains(was.stop)) return;
    var part = document.getElementById(was.part);
    var all = part ? stops(part) : [];
    var alike = all.filter(function (other) { return name(other) === name(was.stop); });
    var next = alike[was.nth] || all[Math.min(was.place, all.length - 1)];
    if (next) next.focus({ preventScroll: true });
  }

  document.addEventListener("htmx:beforeRequest", function (event) {
    if (event.target.id === "live" && held(event.target)) event.preventDefault();
  });
  /* A refusal, an ended session for one, leaves the page as it is: somebody may be typing. */
  document.addEventListener("htmx:beforeOnLoad", function (event) {
    var live = event.detail.elt;
    if (live.id !== "live" || event.detail.xhr.status < 400) return;
    event.preventDefault();
    live.setAttribute("data-stopped", "");
    say(live, "lost");
  });
  document.addEventListener("htmx:beforeSwap", function (event) {
    var live = event.detail.requestConfig && event.detail.requestConfig.elt;
    if (!live || live.id !== "live") return;
    if (held(live)) event.detail.shouldSwap = false;
    else stood = standing();
  });
  document.addEventListener("htmx:afterSwap", function (event) {
    if (event.target.id !== "live-news") return;
    stay();
    event.target.querySelectorAll("data").forEach(function (number) {
      var shown = document.getElementById(number.getAttribute("data-for"));
      if (!shown || shown.textContent === number.value) return;
      shown.textContent = number.value;
      var station = shown.closest(".plan > li");
      if (station && !station.matches(".start, .end")) {
        station.classList.toggle("lit", number.value !== "0");
      }
    });
  });
})();
