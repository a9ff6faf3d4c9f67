// Order Bell's announcement: a line at the top of every page of the store, with the merchant's words.
//
// It is a guest in somebody else's page: no global names, no styles but its own, nothing to read or to keep but that
// the shopper closed it, and nothing at all where there are no words.
(() => {
  const script = document.currentScript;
  const LANGUAGES = {
    de: {
      Announcement: "Ankündigung",
      "Close the announcement": "Ankündigung schließen",
      "Buy three, get 10% off. Free delivery over 30.": "Ab drei Stück 10 % günstiger. Ab 30 liefern wir kostenlos.",
    },
    fr: {
      Announcement: "Annonce",
      "Close the announcement": "Fermer l’annonce",
      "Buy three, get 10% off. Free delivery over 30.": "−10 % dès trois articles. Livraison offerte dès 30.",
    },
  };
  const CLOSED = "order-bell-announcement";

  // In the language of the page; what the merchant wrote stays as it is.
  function t(text) {
    return LANGUAGES[document.documentElement.lang.split("-")[0]]?.[text] ?? text;
  }

  function settings() {
    try {
      return JSON.parse(script.dataset.settings) ?? {};
    } catch {
      return {};
    }
  }

  function isClosed(text) {
    try {
      return sessionStorage.getItem(CLOSED) === text;
    } catch {
      return false; // the browser keeps nothing for this page
    }
  }

  function close(bar, text) {
    bar.remove();
    try {
      sessionStorage.setItem(CLOSED, text);
    } catch {
      // then it is there again on the next page
    }
  }

  // Black or white, whichever is easier to read on the color (WCAG 2.2, relative luminance).
  function ink(color) {
    const channels = [1, 3, 5].map((at) => {
      const share = parseInt(color.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2] > 0.179 ? "#000000" : "#ffffff";
  }

  function element(name, style, text = "") {
    const made = document.createElement(name);
    Object.assign(made.style, style);
    made.textContent = text;
    return made;
  }

  function words(text, link) {
    const isWeb = typeof link === "string" && /^https?:\/\//i.test(link);
    const shown = element(isWeb ? "a" : "span", { color: "inherit", font: "inherit" }, text);
    if (isWeb) shown.href = link;
    return shown;
  }

  function show({ text, link, color }) {
    if (typeof text !== "string" || !text.trim() || isClosed(text)) return;
    const ground = /^#[0-9a-f]{6}$/i.test(color) ? color : "#1f2a37";
    const bar = element("aside", {
      display: "flex",
      justifyContent: "center",
      alignItems: "center",
      gap: "12px",
      padding: "8px 12px 8px 16px",
      background: ground,
      color: ink(ground),
      fontSize: "0.9375rem", // in the page's own type
      fontWeight: "500",
      lineHeight: "1.4",
      overflowWrap: "anywhere",
    });
    bar.id = CLOSED;
    bar.setAttribute("aria-label", t("Announcement"));
    const button = element(
      "button",
      {
        minWidth: "32px",
        minHeight: "32px",
        padding: "0",
        border: "0",
        borderRadius: "6px",
        background: "transparent",
        color: "inherit",
        font: "inherit",
        fontSize: "1.25rem",
        lineHeight: "1",
        cursor: "pointer",
      },
      "×",
    );
    button.type = "button";
    button.setAttribute("aria-label", t("Close the announcement"));
    button.addEventListener("click", () => close(bar, text));
    bar.append(words(t(text), link), button);
    const header = document.querySelector("body > header");
    if (header)
      header.before(bar); // behind the link that skips to the content
    else document.body.prepend(bar);
  }

  show(settings());
})();
