// A payment that is waited for: how much time is left, and whether anything has happened. The page says all of
// it without this, when it is loaded again.
const BETWEEN = [2_000, 3_000, 5_000, 10_000]; // ms between questions; the last one stays
const panel = document.querySelector("[data-state-url]");
let asked = 0;

async function ask() {
  if (!document.hidden) {
    const answer = await fetch(panel.dataset.stateUrl, { headers: { Accept: "application/json" } }).catch(() => null);
    if (answer?.ok && (await answer.json()).state !== panel.dataset.state) return location.reload();
  }
  setTimeout(ask, BETWEEN[Math.min(asked++, BETWEEN.length - 1)]);
}

function words(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest} left` : `${rest} left`;
}

function countDown(element) {
  const ahead = Number(element.dataset.now) * 1000 - Date.now(); // the server's clock counts
  const ends = Number(element.dataset.countdown) * 1000;
  const figures = element.querySelector("span");
  element.hidden = false;
  const tick = () => {
    const left = Math.max(0, Math.ceil((ends - Date.now() - ahead) / 1000));
    figures.textContent = words(left);
    if (left === 0) location.reload();
    else setTimeout(tick, 1_000);
  };
  tick();
}

if (panel) setTimeout(ask, BETWEEN[0]);
document.querySelectorAll("[data-countdown]").forEach(countDown);
