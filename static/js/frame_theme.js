// The look around an app's frame, for the messages of block_host.js and admin_page_host.js, so that a block in a dark store
// needn't be white. A classic script, as these two are.
//
// frameTheme(frame): {mode: "light" | "dark", accent, text, background: "#rrggbb", radius: "8px", font: a font-family}
window.frameTheme = (frame) => {
  const probe = frame.parentElement.appendChild(document.createElement("span"));
  const computed = (property, value) => {
    probe.style.setProperty(property, value);
    return getComputedStyle(probe).getPropertyValue(property);
  };
  const color = (value) => {
    const channels = computed("color", value).match(/\d+/g).slice(0, 3);
    return `#${channels.map((each) => Number(each).toString(16).padStart(2, "0")).join("")}`;
  };
  const theme = {
    mode: color("light-dark(#000000, #ffffff)") === "#000000" ? "light" : "dark",
    accent: color("var(--accent)"),
    text: color("var(--text)"),
    background: color("var(--surface)"),
    radius: computed("border-top-left-radius", "var(--radius)"),
    font: computed("font-family", "var(--sans)"),
  };
  probe.remove();
  return theme;
};
