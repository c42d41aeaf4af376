/* Comforts of the editor, which works without them: focus, keys, a question before input is lost. */
(function () {
  "use strict";
  var leaving = null;
  /* Where one stood before a swap: what led into the rail, the station it was about, a key pressed. */
  var opener = null, about = null, pressed = null;

  function rail() {
    return document.getElementById("rail");
  }
  function form() {
    return document.querySelector("#rail form[data-guard]");
  }
  /* Whether a field says something else than the page that came from the server. */
  function changed(field) {
    if (field.type === "hidden" || field.tagName === "BUTTON" || field.tagName === "FIELDSET") return false;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
    var options = Array.prototype.slice.call(field.options);
    var first = options.findIndex(function (option) { return option.defaultSelected; });
    return options.length > 0 && field.selectedIndex !== Math.max(first, 0);
  }
  function dirty() {
    var found = form();
    if (!found) return false;
    return found.hasAttribute("data-dirty") || Array.prototype.some.call(found.elements, changed);
  }

  /* Which operators suit the type of the chosen property. */
  function fit() {
    document.querySelectorAll("#rail [data-types]").forEach(function (field) {
      var types = JSON.parse(field.getAttribute("data-types"));
      var part = field.closest(".part") || field.form;
      var operator = part.querySelector("[data-operators]");
      if (!operator) return;
      var suits = JSON.parse(operator.getAttribute("data-operators"));
      var type = types[field.value];
      var first = null;
      Array.prototype.forEach.call(operator.options, function (option) {
        var fits = !type || suits[option.value].indexOf(type) >= 0;
        option.hidden = option.disabled = !fits && !option.defaultSelected;
        if (fits && first === null) first = option.value;
      });
      var chosen = operator.selectedOptions[0];
      if (chosen && chosen.disabled && first) operator.value = first;
    });
  }

  function show(key) {
    document.querySelectorAll(".plan .station.now").forEach(function (station) {
      station.classList.remove("now");
      station.removeAttribute("aria-current");
    });
    var station = key && document.getElementById("at-" + key);
    var split = document.querySelector("#work .split");
    if (split) split.classList.toggle("editing", !!document.querySelector("#rail .rail-body"));
    if (!station) return;
    station.classList.add("now");
    station.setAttribute("aria-current", "step");
    station.scrollIntoView({ block: "nearest" });
  }

  /* Undo, redo, up and down keep the focus, so that one may press them again. */
  function key() {
    if (!pressed) return null;
    return document.querySelector('#work [data-keys="' + pressed + '"]:not(:disabled)') ||
      (/do$/.test(pressed) ? document.querySelector("#work .tools [data-keys]:not(:disabled)") : null);
  }
  /* With the rail closed, one stands again where one came from. */
  function whence() {
    var links = Array.prototype.slice.call(document.querySelectorAll("#work a[href]"));
    function find(name, value) {
      return value && links.find(function (link) { return link.getAttribute(name) === value; });
    }
    return find("href", opener) || find("data-station", about);
  }

  function settle(focus) {
    var here = rail();
    if (!here) return;
    fit();
    if (here.querySelector("#mistakes, [role=alert]") && form()) form().setAttribute("data-dirty", "");
    show(here.getAttribute("data-step"));
    if (!focus) return;
    var target = here.querySelector("#mistakes") || key() || here.querySelector("#rail-title") || whence();
    var wrong = here.querySelector("[aria-invalid=true]");
    if (wrong || target) (wrong || target).focus({ preventScroll: false });
  }

  document.addEventListener("htmx:afterSettle", function (event) {
    var target = event.detail && event.detail.target;
    if (!target || (target.id !== "rail" && target.id !== "work")) return;
    settle(true);
  });
  /* A refusal that has a fragment of its own is shown like any other answer. */
  document.addEventListener("htmx:beforeSwap", function (event) {
    if (event.detail.target.id === "rail" || event.detail.target.id === "work") {
      var stop = document.activeElement && document.activeElement.closest("[data-keys]");
      pressed = stop && stop.getAttribute("data-keys");
      about = (rail() && rail().getAttribute("data-step")) || about;
    }
    var answer = event.detail.xhr;
    if (answer.status >= 400 && answer.getResponseHeader("HX-Retarget")) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });
  document.addEventListener("change", function (event) {
    if (event.target.hasAttribute && event.target.hasAttribute("data-types")) fit();
  });

  /* Leaving a form with changes asks first: save, discard, stay. */
  function ask(go) {
    var dialog = document.getElementById("unsaved");
    if (!dialog || !dialog.showModal || dialog.open) return false;
    leaving = go;
    dialog.showModal();
    dialog.querySelector("[data-close]").focus();
    return true;
  }
  document.addEventListener("click", function (event) {
    var answer = event.target.closest && event.target.closest("[data-unsaved]");
    if (answer) return answered(answer.getAttribute("data-unsaved"));
    var link = event.target.closest && event.target.closest("a[href]");
    if (link && link.getAttribute("hx-target") === "#rail") opener = link.getAttribute("href");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.target) return;
    if (link.hasAttribute("data-dialog") || link.hasAttribute("data-close")) return;
    if (link.getAttribute("href").charAt(0) === "#" || !dirty()) return;
    if (ask(function () { link.click(); })) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
  document.addEventListener("submit", function (event) {
    if (event.target === form() || event.target.closest("dialog") || event.target.method === "get") return;
    if (!dirty() || !document.getElementById("work") || !document.getElementById("work").contains(event.target)) return;
    var button = event.submitter;
    if (ask(function () { if (button && button.isConnected) button.click(); })) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
  function answered(choice) {
    var dialog = document.getElementById("unsaved");
    var go = leaving;
    if (dialog.open) dialog.close();
    leaving = null;
    if (choice === "stay" || !go) return;
    if (choice === "discard") {
      form().reset();
      form().removeAttribute("data-dirty");
      return go();
    }
    document.addEventListener("htmx:afterSettle", function done(event) {
      document.removeEventListener("htmx:afterSettle", done);
      if (event.detail.xhr && event.detail.xhr.status < 400) go();
    });
    form().requestSubmit();
  }
  window.addEventListener("beforeunload", function (event) {
    if (dirty() && !form().matches("[data-busy], [data-kept]")) event.preventDefault();
  });

  /* Alt with an arrow moves the step; Ctrl+Z and Ctrl+Y walk over the changes of the draft. */
  function press(name) {
    var button = document.querySelector('#work [data-keys="' + name + '"]:not(:disabled)');
    if (button) button.click();
    return !!button;
  }
  document.addEventListener("keydown", function (event) {
    var key = event.key.toLowerCase();
    if (document.querySelector("dialog:modal")) return;
    if (event.altKey && !event.ctrlKey && (key === "arrowup" || key === "arrowdown")) {
      if (event.target.tagName === "SELECT") return;
      if (press(key === "arrowup" ? "up" : "down")) event.preventDefault();
      return;
    }
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    if (/^(input|textarea|select)$/i.test(event.target.tagName)) return;
    if (key === "z" && !event.shiftKey && press("undo")) event.preventDefault();
    if ((key === "y" || (key === "z" && event.shiftKey)) && press("redo")) event.preventDefault();
  });

  function ready() {
    settle(false);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
})();
