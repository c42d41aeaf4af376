/* A session that ends while somebody types loses nothing: what was typed is kept in this tab, and
   put back when the same person stands on the same page again. */
(function () {
  "use strict";
  var PLACE = "stellwerk-kept";
  var LONGEST = 2 * 60 * 60 * 1000;
  var KEPT = ["text", "search", "email", "url", "tel", "number", "date", "time", "textarea",
    "checkbox", "radio", "select-one", "select-multiple"];

  function words(name) {
    return document.body.getAttribute("data-say-" + name) || "";
  }
  function here() {
    return location.pathname + location.search;
  }
  function forms() {
    return Array.prototype.slice.call(document.querySelectorAll('main form[method="post"]'));
  }
  function chosen(field) {
    return Array.prototype.map.call(field.options, function (option) { return option.selected; });
  }
  function value(field) {
    if (field.options) return chosen(field);
    return field.type === "checkbox" || field.type === "radio" ? field.checked : field.value;
  }
  function changed(field) {
    if (field.options) {
      var none = !Array.prototype.some.call(field.options, function (o) { return o.defaultSelected; });
      return Array.prototype.some.call(field.options, function (option, place) {
        var first = none && !field.multiple && place === 0;
        return option.selected !== (option.defaultSelected || first);
      });
    }
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    return field.value !== field.defaultValue;
  }

  function signingIn() {
    return !!document.querySelector("input[autocomplete=current-password]");
  }

  /* Passwords, files and what no person typed are not kept. `sure`: the session has ended; without
     it what is kept counts only if the sign-in comes next. */
  function keep(sure) {
    if (signingIn()) return;
    var found = [];
    forms().forEach(function (form) {
      var seen = {};
      Array.prototype.forEach.call(form.elements, function (field) {
        if (!field.name || KEPT.indexOf(field.type) < 0) return;
        var nth = (seen[field.name] = (seen[field.name] || 0) + 1) - 1;
        if (!changed(field)) return;
        form.setAttribute("data-kept", "");
        found.push({ form: form.getAttribute("action"), name: field.name, nth: nth, value: value(field) });
      });
    });
    if (!found.length) return;
    var kept = { at: Date.now(), sure: sure, who: document.body.getAttribute("data-who"), page: here(), fields: found };
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(kept));
    } catch (_full) { /* nothing can be kept here; the page works without it */ }
  }
  function read() {
    try {
      return JSON.parse(sessionStorage.getItem(PLACE));
    } catch (_broken) {
      return null;
    }
  }
  function drop() {
    try {
      sessionStorage.removeItem(PLACE);
    } catch (_none) { /* nor is anything kept */ }
  }

  function put(each) {
    var form = forms().find(function (other) { return other.getAttribute("action") === each.form; });
    var field = form && Array.prototype.filter.call(form.elements, function (other) {
      return other.name === each.name && KEPT.indexOf(other.type) >= 0;
    })[each.nth];
    if (!field) return null;
    if (field.options) {
      Array.prototype.forEach.call(field.options, function (option, place) {
        option.selected = !!each.value[place];
      });
    } else if (typeof each.value === "boolean") field.checked = each.value;
    else field.value = each.value;
    if (field.hasAttribute("data-types")) field.dispatchEvent(new Event("change", { bubbles: true }));
    return field;
  }
  function tell(text, tone, address) {
    var region = document.getElementById("said");
    if (!region || !text) return;
    var line = document.createElement("p");
    line.className = "note " + tone;
    line.textContent = text + (address ? " " : "");
    if (address) {
      var link = document.createElement("a");
      link.href = address;
      link.setAttribute("data-again", "");
      link.textContent = words("again");
      line.appendChild(link);
    }
    region.replaceChildren(line);
  }

  function ready() {
    var kept = read();
    if (!kept) return;
    if (signingIn()) {
      kept.sure = true;
      try {
        sessionStorage.setItem(PLACE, JSON.stringify(kept));
      } catch (_full) { /* as it was */ }
      return;
    }
    var stranger = kept.who !== document.body.getAttribute("data-who");
    if (!kept.sure || stranger || Date.now() - kept.at > LONGEST) return drop();
    if (kept.page !== here()) return;
    drop();
    var back = kept.fields.map(put).filter(Boolean);
    if (!back.length) return;
    back[back.length - 1].dispatchEvent(new Event("input", { bubbles: true }));
    tell(words("kept"), "hold");
  }
  document.addEventListener("DOMContentLoaded", ready);

  document.addEventListener("submit", function (event) {
    if (event.target.matches('main form[method="post"]') && !event.defaultPrevented) keep(false);
  });
  document.addEventListener("input", function (event) {
    var form = event.target.closest && event.target.closest("form[data-kept]");
    if (form) form.removeAttribute("data-kept");
  });
  /* What the page asks for by itself leads nobody away; what somebody pressed does. */
  document.addEventListener("htmx:beforeOnLoad", function (event) {
    var answer = event.detail.xhr;
    if (answer.status !== 401 || event.detail.elt.id === "live") return;
    keep(true);
    var by = event.detail.requestConfig && event.detail.requestConfig.triggeringEvent;
    if (by && (by.type === "submit" || by.type === "click")) return;
    event.preventDefault();
    if (!document.querySelector("#said [data-again]")) {
      tell(words("ended"), "stop", answer.getResponseHeader("HX-Redirect") || "/");
    }
  });
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a[data-again]");
    if (!link) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    keep(true);
    location.href = link.href;
  }, true);
})();
