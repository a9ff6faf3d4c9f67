// The look around an app's frame, for the messages of frame_host.js and admin_page_host.js, so that a block in a dark store
// needn't be white. A shop's page may have our custom properties or not: without them the look is what is computed there.
//
// frameTheme(frame): {mode: "light" | "dark", accent, text, background: "#rrggbb", radius: "8px", font: a font-family}
export const frameTheme = (frame) => {
  const around = frame.parentElement;
  const probe = around.appendChild(document.createElement("span"));
  const computed = (property, value) => {
    probe.style.setProperty(property, value);
    return getComputedStyle(probe).getPropertyValue(property);
  };
  // "rgb(22, 26, 33)" or "color(srgb 0.086 0.1 0.13)"; mixing makes one of these of every other notation.
  const channels = (value) => {
    const text = computed("color", `color-mix(in srgb, ${value} 100%, #000)`);
    const scale = text.startsWith("color(") ? 255 : 1;
    return text
      .match(/[\d.]+(e-\d+)?/g)
      .slice(0, 3)
      .map((each) => Math.min(255, Math.round(each * scale)));
  };
  const color = (value) =>
    `#${channels(value)
      .map((each) => each.toString(16).padStart(2, "0"))
      .join("")}`;
  const ground = () => {
    for (let each = around; each; each = each.parentElement) {
      const { backgroundColor } = getComputedStyle(each);
      if (backgroundColor !== "rgba(0, 0, 0, 0)") return backgroundColor;
    }
    return "Canvas";
  };
  const surface = `var(--surface, ${ground()})`;
  const [red, green, blue] = channels(surface);
  const theme = {
    mode: 2 * red + 5 * green + blue < 1024 ? "dark" : "light",
    accent: color("var(--accent, currentcolor)"),
    text: color("var(--text, currentcolor)"),
    background: color(surface),
    radius: computed("border-top-left-radius", "var(--radius)"),
    font: computed("font-family", "var(--sans)"),
  };
  probe.remove();
  return theme;
};
