// What the manifest page takes of CodeMirror 6, as one global. Built by `python -m tools.vendor`.
export { EditorState } from "@codemirror/state";
export { EditorView, keymap, lineNumbers, highlightActiveLine } from "@codemirror/view";
export { minimalSetup } from "codemirror";
export {
  indentUnit,
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
  HighlightStyle,
} from "@codemirror/language";
export { json } from "@codemirror/lang-json";
export { linter, lintGutter, lintKeymap, forceLinting } from "@codemirror/lint";
export { tags } from "@lezer/highlight";
