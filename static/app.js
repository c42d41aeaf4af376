/* Small comforts on top of pages that work without any script:
   confirmation dialogs, busy buttons, a word when the network is lost, copying a key. */
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");

  function words(name) {
    return document.body.getAttribute("data-say-" + name) || "";
  }

  function say(text, tone) {
    var region = document.getElementById("said");
    if (!region || !text) return;
    var line = document.createElement("p");
    line.className = "note " + (tone || "");
    line.textContent = text;
    region.replaceChildren(line);
  }

  /* A link with data-dialog leads to the same page with the dialog in it; here it opens at once. */
  function open(dialog) {
    if (dialog.open) dialog.close();
    dialog.showModal();
    var safe = dialog.querySelector("[data-close]");
    if (safe) safe.focus();
  }

  document.addEventListener("click", function (event) {
    var target = event.target.closest("[data-dialog],[data-close],[data-copy],[data-dismiss]");
    if (!target) return;
    if (target.hasAttribute("data-dialog")) {
      var dialog = document.getElementById(target.getAttribute("data-dialog"));
      if (!dialog || !dialog.showModal) return;
      event.preventDefault();
      open(dialog);
    } else if (target.hasAttribute("data-close")) {
      var around = target.closest("dialog");
      if (!around || !around.matches(":modal")) return;
      event.preventDefault();
      around.close();
    } else if (target.hasAttribute("data-copy")) {
      var source = document.getElementById(target.getAttribute("data-copy"));
      if (!source || !navigator.clipboard) return;
      navigator.clipboard.writeText(source.value || source.textContent.trim()).then(function () {
        say(target.getAttribute("data-copied"), "");
      });
    } else {
      target.parentElement.remove();
    }
  });

  /* What says it is a button is pressed by the space bar, too, though it is a link. */
  document.addEventListener("keydown", function (event) {
    if (event.key !== " " || !event.target.matches("a[role=button]")) return;
    event.preventDefault();
    if (!event.repeat) event.target.click();
  });

  function ready() {
    document.querySelectorAll("dialog[open]").forEach(function (dialog) {
      if (dialog.showModal) open(dialog);
    });
    var summary = document.getElementById("mistakes");
    if (summary) summary.focus();
  }
  document.body ? ready() : document.addEventListener("DOMContentLoaded", ready);

  /* What is swapped in has an address of its own; the other language is that of the same page. */
  function tongues() {
    document.querySelectorAll("a[hreflang]").forEach(function (link) {
      var there = new URL(location.href);
      there.searchParams.set("lang", link.hreflang);
      link.setAttribute("href", there.pathname + there.search);
    });
  }
  document.addEventListener("htmx:pushedIntoHistory", tongues);
  window.addEventListener("popstate", tongues);

  /* One press, one request: the label stays, a second press does nothing. */
  function busy(form, on) {
    form.querySelectorAll("button").forEach(function (button) {
      if (on) button.setAttribute("aria-busy", "true");
      else button.removeAttribute("aria-busy");
    });
    if (on) form.setAttribute("data-busy", "");
    else form.removeAttribute("data-busy");
  }

  document.addEventListener("submit", function (event) {
    var form = event.target;
    if (form.method.toLowerCase() !== "post") return;
    if (form.hasAttribute("data-busy")) {
      event.preventDefault();
      return;
    }
    if (navigator.onLine === false) {
      event.preventDefault();
      closeAround(form);
      say(words("lost"), "stop");
      return;
    }
    busy(form, true);
  });

  function closeAround(element) {
    var dialog = element.closest && element.closest("dialog");
    if (dialog && dialog.open) dialog.close();
  }

  function freed(event) {
    var form = event.target.closest && event.target.closest("form");
    if (form) busy(form, false);
  }
  /* Coming back by the Back button must not find a dead form. */
  window.addEventListener("pageshow", function () {
    document.querySelectorAll("form[data-busy]").forEach(function (form) {
      busy(form, false);
    });
  });

  document.addEventListener("htmx:afterRequest", freed);
  ["htmx:sendError", "htmx:timeout"].forEach(function (name) {
    document.addEventListener(name, function (event) {
      freed(event);
      /* A polling read that fails is no loss of anybody's input. */
      var asked = event.detail && event.detail.requestConfig;
      if (asked && asked.verb === "get") return;
      say(words("lost"), "stop");
    });
  });
  document.addEventListener("htmx:responseError", function (event) {
    var answer = event.detail && event.detail.xhr;
    var reference = answer && answer.getResponseHeader("X-Request-Id");
    say(words("failed") + (reference ? " " + reference : ""), "stop");
  });
})();
