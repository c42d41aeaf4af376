/* The live preview: whenever the words beside the frame are new, its HTML is asked for, too. */
(function () {
  "use strict";

  function ready() {
    var form = document.getElementById("template-form");
    var button = document.getElementById("show-html");
    if (!form || !button) return;

    /* What is posted into the frame leaves this page as it is, so its buttons stay free. A new
       frame each time keeps the Back button for pages. */
    form.addEventListener("submit", function (event) {
      var sender = event.submitter;
      if (!sender || !sender.hasAttribute("formtarget")) return;
      event.stopPropagation();
      var frame = document.getElementById("mail");
      var fresh = frame.cloneNode(false);
      fresh.removeAttribute("src");
      frame.replaceWith(fresh);
    });

    document.addEventListener("htmx:afterSwap", function (event) {
      if (event.target.id !== "preview" || event.target.querySelector("[data-flaw]")) return;
      form.requestSubmit(button);
    });
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", ready);
  else ready();
})();
