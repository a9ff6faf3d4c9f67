// The canvas of the page editor, in its frame: people type into the title and the text where they are shown, and blocks show settings
// while these are typed. The text goes into the form of the page around it, which has the same origin, and a text typed in the
// form shows here. The frames of apps' blocks have other origins, and nothing here listens to their messages.
//
// The pages of connected stores aren't written by us: there the same script shows blocks alone, without a frame around it.
const PAUSE = 150; // ms
const LATE = 8000; // ms
const NAMES = { H1: "Title", UL: "List", OL: "List", BLOCKQUOTE: "Quote", P: "Paragraph" }; // all others are headings
const HEADING = /^ {0,3}#{1,6}\s+/;

const isFramed = location.href === "about:srcdoc";
const editor = isFramed ? parent.document : document;
const isDraft = !isFramed || document.body.classList.contains("draft");

/** Sends a form as it is to another address than its own, which only a script may. */
function send(form, url) {
  const headers = { "X-CSRFToken": form.querySelector("[name=csrfmiddlewaretoken]").value };
  return fetch(url, { method: "POST", body: new FormData(form), headers });
}

/** Calls `show` with the last answer to a form while somebody types. Outdated answers, and values that can't be saved, are ignored. */
function follow(form, url, show) {
  const unsaved = form.querySelector("[data-unsaved]");
  let timer;
  let asked = 0;
  const ask = async () => {
    const number = ++asked;
    const answer = await send(form, url);
    if (number === asked && answer.ok) show(answer);
  };
  form.addEventListener("input", () => {
    if (unsaved) unsaved.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  return ask;
}

// <form data-live="URL" data-for="blockId">: the block shows the new settings. The server reads the form as it does on Save.
function showSettings(form) {
  const frame = document.querySelector(`iframe[data-block="${form.dataset.for}"]`);
  const ask = follow(form, form.dataset.live, async (answer) => {
    const { settings } = await answer.json();
    frame.dispatchEvent(new CustomEvent("block:update", { detail: settings, bubbles: true }));
    frame.closest(".slot").classList.add("changed");
  });
  // A button such as Reset changed the form on the server, which saved nothing.
  if ("changed" in form.dataset) {
    const unsaved = form.querySelector("[data-unsaved]");
    if (unsaved) unsaved.hidden = false;
    frame.addEventListener("block:ready", ask);
  }
}

// Shows a notice beside a block that hasn't loaded within eight seconds. It may still load.
function sayIfLate(notice) {
  const frame = document.querySelector(`iframe[data-block="${notice.dataset.late}"]`);
  const wait = () =>
    setTimeout(() => {
      notice.hidden = "ready" in frame.dataset;
    }, LATE);
  frame.addEventListener("block:ready", () => {
    notice.hidden = true;
  });
  notice.querySelector("[data-retry]").addEventListener("click", () => {
    notice.hidden = true;
    frame.src = frame.getAttribute("src");
    wait();
  });
  wait();
}

// --- Typing ---------------------------------------------------------------------------------------

/** Browsers show the breaks between tags where only text can be typed. The server has a `<br>` for each that counts. */
function withoutBreaks(element) {
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll("\n", "");
}

/** Plain text can be typed into the element: formats of what is pasted, and of shortcuts, stay out. */
function makeEditable(element) {
  withoutBreaks(element);
  element.contentEditable = "plaintext-only";
  if (element.contentEditable !== "plaintext-only") element.contentEditable = "true";
}

const isOneLine = (element) => /^H\d$/.test(element.tagName);
const shownText = (element) => {
  const text = element.innerText.replace(/\n+$/, "");
  return isOneLine(element) ? text.replace(/\s*\n\s*/g, " ") : text;
};
const room = (field) => (field.maxLength > 0 ? field.maxLength : Infinity);

function write(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function caretToEnd(element) {
  getSelection().selectAllChildren(element);
  getSelection().collapseToEnd();
}

/** What any element that people type into does: `begin` and `end` with the focus, `typed` with each change, Escape to the `field`. */
function listen(element, { begin, typed, end, leave }) {
  element.addEventListener("focus", () => {
    element.setAttribute("role", "textbox");
    element.setAttribute("aria-label", NAMES[element.tagName] ?? "Heading");
    if (!isOneLine(element)) element.setAttribute("aria-multiline", "true");
    begin?.();
  });
  element.addEventListener("blur", () => {
    for (const name of ["role", "aria-label", "aria-multiline"]) element.removeAttribute(name);
    end?.();
  });
  element.addEventListener("beforeinput", (event) => {
    const isEnter = ["insertParagraph", "insertLineBreak"].includes(event.inputType);
    if (event.inputType.startsWith("format") || (isEnter && isOneLine(element))) event.preventDefault();
  });
  element.addEventListener("paste", (event) => {
    event.preventDefault();
    const text = event.clipboardData.getData("text/plain");
    const lines = isOneLine(element) ? [text.replace(/\s*[\r\n]\s*/g, " ")] : text.split(/\r\n?|\n/);
    for (const [number, line] of lines.entries()) {
      if (number) document.execCommand("insertLineBreak");
      if (line) document.execCommand("insertText", false, line);
    }
  });
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    element.blur();
    leave();
  });
  element.addEventListener("input", typed);
}

function typeTitle(element, field) {
  makeEditable(element);
  listen(element, {
    typed() {
      const text = shownText(element);
      const kept = text.slice(0, room(field));
      if (kept !== text) {
        element.textContent = kept;
        caretToEnd(element);
      }
      write(field, kept);
    },
    leave: () => field.focus(),
  });
  field.addEventListener("input", () => {
    if (document.activeElement !== element) element.textContent = field.value;
  });
}

// The text is Markdown. An element with data-lines="0 2" was made from these lines, which it shows while somebody types into it, so that
// bold and links stay what they are. Around it the text is drawn again by the server, as it will be in the store.
class TypedText {
  constructor(prose, form, area) {
    Object.assign(this, { prose, area });
    this.ask = follow(form, form.dataset.textPreview, async (answer) => this.show(await answer.text()));
    this.arm();
  }

  get parts() {
    return [...this.prose.querySelectorAll(":scope > [data-lines]")];
  }

  get typedPart() {
    return document.hasFocus() ? this.parts.find((part) => part === document.activeElement) : undefined;
  }

  arm() {
    if (!this.area.value.trim() && !this.parts.length) {
      const first = document.createElement("p");
      first.dataset.lines = "0 1";
      first.dataset.placeholder = "Write the text of the page here.";
      this.prose.replaceChildren(first);
    }
    for (const part of this.parts) {
      if (part.isContentEditable) continue;
      makeEditable(part);
      listen(part, {
        begin: () => this.begin(part),
        typed: () => this.typed(part),
        end: () => this.ask(),
        leave: () => (this.area.form.querySelector(".TinyMDE") ?? this.area).focus(),
      });
    }
  }

  /** Its lines in the form: [the number of the first, the one after the last, a heading's mark, the text]. */
  source(part) {
    const lines = this.area.value.split("\n");
    let [start, end] = part.dataset.lines.split(" ").map(Number);
    while (end > start + 1 && !(lines[end - 1] ?? "").trim()) end -= 1; // lists end with their empty line
    const text = lines.slice(start, end).join("\n");
    const mark = isOneLine(part) ? (text.match(HEADING)?.[0] ?? "") : "";
    return { lines, start, end, mark, text: text.slice(mark.length) };
  }

  begin(part) {
    const { text } = this.source(part);
    if (part.children.length || part.textContent !== text) part.textContent = text;
  }

  typed(part) {
    const { lines, start, end, mark, text } = this.source(part);
    const most = room(this.area) - this.area.value.length + text.length;
    let now = shownText(part);
    if (now.length > most) {
      now = now.slice(0, most);
      part.textContent = now;
      caretToEnd(part);
    }
    const own = (mark + now).split("\n");
    lines.splice(start, end - start, ...own);
    const moved = own.length - (end - start);
    for (const other of this.parts) {
      const [first, last] = other.dataset.lines.split(" ").map(Number);
      if (other === part) other.dataset.lines = `${start} ${start + own.length}`;
      else if (first >= end) other.dataset.lines = `${first + moved} ${last + moved}`;
    }
    write(this.area, lines.join("\n"));
  }

  /** Draws the text, but for the element that somebody is typing into. */
  show(html) {
    const made = document.createElement("template");
    made.innerHTML = html; // cleaned by the server
    const typed = this.typedPart;
    if (!typed) {
      this.prose.replaceChildren(made.content);
    } else {
      const { start, end } = this.source(typed);
      const found = [...made.content.childNodes];
      const first = (node) => (node.dataset?.lines ? Number(node.dataset.lines.split(" ")[0]) : NaN);
      const from = found.findIndex((node) => first(node) === start);
      if (from < 0) return; // it is empty
      let to = from + 1;
      while (to < found.length && !(first(found[to]) >= end) && !(found[to].tagName && isNaN(first(found[to]))))
        to += 1;
      while (typed.previousSibling) typed.previousSibling.remove();
      while (typed.nextSibling) typed.nextSibling.remove();
      typed.before(...found.slice(0, from));
      typed.after(...found.slice(to));
    }
    this.arm();
    compare();
  }
}

// --- Beside what shoppers see ---------------------------------------------------------------------

/** Marks what Publish or Save would change: parts that the page in the frame beside this one doesn't have. */
function compare() {
  const live = editor.querySelector("iframe[data-live-page]")?.contentDocument;
  const prose = live?.querySelector(".site-page > .prose");
  if (!prose) return;
  const look = (element) => `${element.tagName} ${element.innerHTML.replaceAll("\n", "")}`;
  const known = new Set([...prose.children].map(look));
  for (const part of document.querySelectorAll(".site-page > .prose > *")) {
    if (part !== document.activeElement) part.classList.toggle("changed", !known.has(look(part)));
  }
  const title = document.querySelector(".site-page > h1");
  title.classList.toggle("changed", title.textContent !== live.querySelector(".site-page > h1").textContent);
}

function start() {
  for (const notice of document.querySelectorAll("[data-late]")) sayIfLate(notice);
  const settings = editor.querySelector("form[data-live]");
  if (settings) showSettings(settings);
  if (!isFramed) return;
  const [title, prose] = document.querySelectorAll(".site-page > h1, .site-page > .prose");
  const form = editor.querySelector("form[data-text-preview]");
  if (form) {
    typeTitle(title, form.elements.title);
    const text = new TypedText(prose, form, form.elements.content);
    form.elements.title.addEventListener("input", compare);
    compare();
    return text;
  }
  // Settings of a block are open. The title and the text lead to their form, unless that would lose what was typed.
  for (const part of [title, prose]) {
    part.addEventListener("click", () => {
      if (!editor.querySelector("[data-unsaved]:not([hidden])")) editor.querySelector("[data-to-text]").click();
    });
  }
}

if (isFramed) for (const part of document.querySelectorAll(".shop-bar, .shop-foot, .skip-link")) part.inert = true;
if (isDraft) {
  document.addEventListener("live:ready", compare);
  for (const choice of editor.querySelectorAll("[name=show]"))
    choice.addEventListener("change", () => document.body.classList.toggle("compares", choice.id === "show-both"));
  start();
} else {
  editor.querySelector("iframe[data-draft]").contentDocument?.dispatchEvent(new CustomEvent("live:ready"));
}
