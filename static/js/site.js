// Behavior for every page. Each part finds its elements by a data attribute, and pages work without it.
import { announce } from "./announce.js";

document.documentElement.dataset.scripted = "";

{
  // <button data-copy="ID">: copies the field or element with that ID. If the ID is empty, copies the surrounding code block.

  const SHOWN = 2000; // ms

  function source(button) {
    const id = button.dataset.copy;
    return id ? document.getElementById(id) : button.closest("[data-code]").querySelector("code");
  }

  function select(element) {
    if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
      element.focus();
      element.select();
    } else {
      getSelection().selectAllChildren(element);
    }
  }

  async function copy(button) {
    const element = source(button);
    try {
      await navigator.clipboard.writeText(element.value ?? element.textContent);
    } catch {
      select(element); // the browser refused: select the text, ready for Ctrl+C
      announce("Selected. Press Control and C to copy.");
      return;
    }
    button.dataset.done = "";
    announce("Copied");
    clearTimeout(button.timer);
    button.timer = setTimeout(() => delete button.dataset.done, SHOWN);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
}

{
  // <p data-counter="ID" data-most="300">: counts the characters in the field with that ID.
  function show(counter, field) {
    const most = Number(counter.dataset.most);
    const length = [...field.value].length;
    counter.textContent = counter.dataset.words.replace("{length}", length).replace("{most}", most);
    counter.toggleAttribute("data-over", length > most);
  }

  for (const counter of document.querySelectorAll("[data-counter]")) {
    const field = document.getElementById(counter.dataset.counter);
    if (!field) continue;
    field.addEventListener("input", () => show(counter, field));
    show(counter, field);
  }
}

{
  // Focuses the error summary, also if the URL has a fragment, which makes browsers ignore `autofocus`.
  document.querySelector(".error-summary[autofocus]")?.focus();
}

{
  // <form data-confirm-leave>: asks before leaving a page that can't be shown again, unless the form is submitted.
  for (const form of document.querySelectorAll("form[data-confirm-leave]")) {
    const ask = (event) => event.preventDefault();
    addEventListener("beforeunload", ask);
    form.addEventListener("submit", () => removeEventListener("beforeunload", ask));
  }
}

{
  // <form data-save-bar>: its `.save-bar` shows while a field differs from what the page came with, and leaving then asks.
  // `data-changed` from the server: the fields come from an attempt that failed, so they differ already.
  function differs(field) {
    if (field.type === "file") return field.files.length > 0;
    if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
    if (field.type !== "select-one") return field.value !== field.defaultValue;
    const options = [...field.options];
    return (
      field.selectedIndex !==
      Math.max(
        0,
        options.findIndex((option) => option.defaultSelected),
      )
    );
  }

  for (const form of document.querySelectorAll("form[data-save-bar]")) {
    const failed = form.hasAttribute("data-changed");
    const fields = () => [...form.elements].filter((each) => each.matches("input, select, textarea"));
    const update = () => form.toggleAttribute("data-changed", failed || fields().some(differs));
    const ask = (event) => form.hasAttribute("data-changed") && event.preventDefault();
    form.addEventListener("input", update);
    addEventListener("pageshow", update); // browsers restore what was typed
    addEventListener("beforeunload", ask);
    form.addEventListener("submit", () => removeEventListener("beforeunload", ask));
    form.querySelector(".save-bar a").addEventListener("click", () => removeEventListener("beforeunload", ask));
  }
}

{
  // <form data-apply>: filters and quantities apply as soon as a box, select, number or day changes. Its button is `without-script`.
  // A day that is being typed has years such as 0002 on its way.
  const isWhole = (field) => field.type !== "date" || !field.value || field.value >= "1970";
  document.addEventListener("change", (event) => {
    const field = event.target;
    if (
      field.form?.dataset.apply !== undefined &&
      field.matches("select, [type=checkbox], [type=radio], [type=date], [type=number]") &&
      isWhole(field)
    )
      field.form.requestSubmit();
  });
}

{
  // <details class="site-menu">: closes on Escape and on a press outside, as a menu does.
  const menus = document.querySelectorAll("details.site-menu");
  document.addEventListener("click", (event) => {
    for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of menus) {
      if (menu.open && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      menu.open = false;
    }
  });
}

{
  // <button data-reveal="ID" hidden>: shows and hides the password in the field with that ID.
  for (const button of document.querySelectorAll("[data-reveal]")) {
    const field = document.getElementById(button.dataset.reveal);
    if (!field) continue;
    button.hidden = false;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const shown = field.type === "password";
      field.type = shown ? "text" : "password";
      button.setAttribute("aria-pressed", String(shown));
      button.firstChild.textContent = shown ? "Hide" : "Show";
    });
    field.form?.addEventListener("submit", () => (field.type = "password")); // so that browsers don't store it as text
  }
}

{
  // <input data-slug-from="ID">: derives the slug from the name in the field with that ID, until the slug is edited.
  // Includes a name that was typed before this script loaded.
  function slugOf(text) {
    return text
      .normalize("NFKD")
      .replace(/[\u0300-\u036f]/g, "")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "");
  }

  for (const slug of document.querySelectorAll("[data-slug-from]")) {
    const name = document.getElementById(slug.dataset.slugFrom);
    if (!name) continue;
    let follows = slug.value === "" || slug.value === slugOf(name.value);
    const most = slug.maxLength > 0 ? slug.maxLength : undefined;
    const follow = () => {
      if (follows) slug.value = slugOf(name.value).slice(0, most).replace(/-+$/, "");
    };
    name.addEventListener("input", follow);
    follow();
    slug.addEventListener("input", () => (follows = slug.value === ""));
  }
}

{
  // <select data-own-timezone>: chooses the zone of the browser, unless the page came back with the person's own choice.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const select of document.querySelectorAll("select[data-own-timezone]")) {
    if (document.querySelector(".error-summary")) continue;
    if ([...select.options].some((option) => option.value === zone)) select.value = zone;
  }
}

{
  // <input type="datetime-local">: reads back what is in it where the browser writes times in another way than the page.
  const example = new Date(2026, 10, 28, 22, 49);
  const shape = { day: "numeric", month: "numeric", year: "numeric", hour: "numeric", minute: "numeric" };
  const theirs = new Intl.DateTimeFormat(undefined, shape).format(example);
  if (!theirs.startsWith("28") || !theirs.includes("22")) {
    for (const field of document.querySelectorAll('input[type="datetime-local"]')) {
      const output = document.createElement("output");
      output.className = "read-back";
      output.htmlFor = field.id;
      const show = () => {
        const [day, time] = field.value.split("T");
        const at = new Date(`${day}T00:00`);
        const month = at.toLocaleString("en", { month: "short" });
        output.textContent = time ? `${at.getDate()} ${month} ${at.getFullYear()}, ${time.slice(0, 5)}` : "";
      };
      field.after(output);
      field.addEventListener("input", show);
      show();
    }
  }
}

{
  // <form data-zone>: tells the server the browser's time zone, from the page after this one on.
  if (document.querySelector("[data-zone]")) {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `zone=${timeZone}; path=/; max-age=31536000; samesite=lax${secure}`;
  }
}

{
  // <select data-submits>: submits its form when another option is chosen. Its button is for pages without scripts.
  for (const select of document.querySelectorAll("select[data-submits]")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
}

{
  // Prevents submitting a form twice. Its button looks disabled but stays focusable.
  const WAIT = 10_000; // ms; by then, the response was a download, or loading was cancelled

  function release(form) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll("[aria-disabled]")) button.removeAttribute("aria-disabled");
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || event.defaultPrevented) return;
    if (form.dataset.sent !== undefined) return event.preventDefault();
    form.dataset.sent = "";
    event.submitter?.setAttribute("aria-disabled", "true");
    setTimeout(release, WAIT, form);
  });

  // The browser restored the page from its history.
  addEventListener("pageshow", (event) => {
    if (event.persisted) document.querySelectorAll("form[data-sent]").forEach(release);
  });
}

{
  // A press by keyboard that leads back to a page: focus goes to the form's next button, or else to what is said.
  const PRESSED = "pressed";

  // `form.action` would be a button of that name.
  const target = (element, attribute) =>
    new URL(element.getAttribute(attribute) || location.href, location.href).pathname;

  function takeOver(pressed) {
    if (document.activeElement !== document.body) return;
    const again = [...document.querySelectorAll("form[method=post]")].filter(
      (form) => target(form, "action") === pressed,
    );
    const buttons = again.flatMap((form) => [...form.querySelectorAll("button:not([type=button])")]);
    const said = document.querySelector(".messages[role=status]");
    said?.setAttribute("tabindex", "-1");
    (buttons.find((button) => button.classList.contains("primary")) ?? buttons[0] ?? said)?.focus();
  }

  try {
    const pressed = sessionStorage.getItem(PRESSED);
    sessionStorage.removeItem(PRESSED);
    if (pressed) takeOver(pressed);
    document.addEventListener("submit", ({ target: form, submitter }) => {
      if (form.getAttribute("method") !== "post" || !submitter?.matches(":focus-visible")) return;
      const to = submitter.hasAttribute("formaction") ? target(submitter, "formaction") : target(form, "action");
      sessionStorage.setItem(PRESSED, to);
    });
  } catch {
    // Without storage focus stays where the browser puts it.
  }
}

// Tabs scroll on a phone: the chosen one is in sight.
for (const tab of document.querySelectorAll(".tabs > [aria-current]")) {
  const bar = tab.parentElement;
  bar.scrollLeft += tab.getBoundingClientRect().right - bar.getBoundingClientRect().right;
}
