// <form data-manifest data-check="URL" data-nonce="…">: replaces its textarea by CodeMirror, with problems from the server.
// The textarea keeps the text, so every button works as it does without this file.
const { EditorState, EditorView, keymap, lineNumbers, highlightActiveLine, minimalSetup } = window.CodeMirror;
const { indentUnit, bracketMatching, foldGutter, foldKeymap, indentOnInput } = window.CodeMirror;
const { syntaxHighlighting, HighlightStyle, json, linter, lintGutter, lintKeymap, tags } = window.CodeMirror;

const DELAY = 600; // ms without typing before the text is checked

const colors = HighlightStyle.define([
  { tag: tags.propertyName, class: "cm-key" },
  { tag: tags.string, class: "cm-text" },
  { tag: [tags.number, tags.bool, tags.null], class: "cm-atom" },
  { tag: [tags.separator, tags.squareBracket, tags.brace], class: "cm-mark" },
]);

// The site's colors, which adapt to the dark theme by themselves.
const look = EditorView.theme({
  "&": {
    maxHeight: "70vh",
    border: "1px solid var(--control)",
    borderRadius: "var(--radius)",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    fontSize: "var(--size-small)",
    overflow: "hidden",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content, .cm-gutter": { minHeight: "420px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--faint)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-bg)" },
  ".cm-tooltip": {
    maxWidth: "min(480px, 90vw)",
    border: "1px solid var(--line)",
    borderRadius: "var(--radius-small)",
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    boxShadow: "var(--float)",
  },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { backgroundColor: "var(--accent-bg)" },
  ".cm-diagnostic": { fontFamily: "var(--sans)", overflowWrap: "anywhere", borderLeftColor: "var(--bad)" },
  ".cm-diagnosticAction": {
    minHeight: "24px",
    borderRadius: "var(--radius-small)",
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-foldPlaceholder": { borderColor: "var(--line)", backgroundColor: "var(--sunken)", color: "var(--soft)" },
});

/** The offset of a line and column. The column counts characters; JavaScript counts some of them twice. */
function offset(doc, line, column) {
  const at = doc.line(Math.min(line, doc.lines));
  return at.from + [...at.text].slice(0, column - 1).join("").length;
}

function diagnostic(doc, problem) {
  const from = offset(doc, problem.line, problem.column);
  const rest = [...doc.sliceString(from, from + 2 * problem.length)];
  const to = Math.min(from + rest.slice(0, problem.length).join("").length, doc.length);
  const actions = problem.fix
    ? [
        {
          name: `Write ${problem.fix}`,
          apply: (view, start, end) => view.dispatch({ changes: { from: start, to: end, insert: problem.fix } }),
        },
      ]
    : [];
  const path = problem.path ? `${problem.path}: ` : "";
  return { from, to: Math.max(to, from), severity: "error", message: path + problem.message, actions };
}

function problemSource(form) {
  return async (view) => {
    const body = new URLSearchParams({ manifest: view.state.doc.toString() });
    const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
    try {
      const answer = await fetch(form.dataset.check, { method: "POST", body, headers: { "X-CSRFToken": token } });
      if (!answer.ok || answer.redirected) return [];
      return (await answer.json()).problems.map((problem) => diagnostic(view.state.doc, problem));
    } catch {
      return []; // offline: Check and Save report the problems later
    }
  };
}

/** Chromium adds an inline style to text typed over a selection, which the Content-Security-Policy forbids. */
function typedOver(event, view) {
  if (event.inputType !== "insertText" || !event.data || view.composing || view.state.selection.main.empty)
    return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(event.data), { scrollIntoView: true, userEvent: "input.type" });
  return true;
}

function edit(form) {
  const area = form.querySelector("textarea");
  const label = form.querySelector(`label[for="${area.id}"]`);
  label.id = `${area.id}-label`;
  const view = new EditorView({
    state: EditorState.create({
      doc: area.value,
      extensions: [
        look,
        minimalSetup,
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        highlightActiveLine(),
        bracketMatching(),
        indentOnInput(),
        indentUnit.of("  "),
        EditorView.lineWrapping,
        EditorState.readOnly.of(area.readOnly),
        EditorView.editable.of(!area.readOnly),
        EditorView.cspNonce.of(form.dataset.nonce),
        EditorView.contentAttributes.of({
          "aria-labelledby": label.id,
          "aria-describedby": area.getAttribute("aria-describedby"),
          tabindex: "0",
        }),
        EditorView.domEventHandlers({ beforeinput: typedOver }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) area.value = update.state.doc.toString();
        }),
        keymap.of([...foldKeymap, ...lintKeymap]),
        json(),
        syntaxHighlighting(colors),
        linter(problemSource(form), { delay: DELAY }),
      ],
    }),
  });
  area.after(view.dom);
  area.hidden = true;
  label.addEventListener("click", () => view.focus());
  form.querySelector("[data-with-editor]").hidden = false;
  return view;
}

await document.fonts.ready; // the editor measures lines once, and their height depends on the font

for (const form of document.querySelectorAll("form[data-manifest]")) {
  const view = edit(form);
  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const at = offset(view.state.doc, Number(link.dataset.line), Number(link.dataset.column));
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
      view.dom.scrollIntoView({ block: "nearest" });
    });
  }
}
