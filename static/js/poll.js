// Asks for `url()` again and again while the page is visible: at first after `wait` ms, then after `next` of the last wait, and from the
// beginning once the page is visible again. `show` gets each answer; false ends it. An answer that somebody is signed out, or that it is
// gone, ends it until then. Returns `{wait}`, which `show` may set.
export function poll(url, show, { wait, next, accept = "text/html" }) {
  const pace = { wait };
  let timer, isOver;

  async function ask() {
    try {
      const answer = await fetch(url(), { headers: { Accept: accept } });
      if (answer.redirected || answer.status === 404 || answer.status === 403) return;
      isOver = answer.ok && (await show(answer)) === false;
    } catch {
      // offline: try again later
    }
    pace.wait = next(pace.wait);
    plan();
  }

  function plan() {
    clearTimeout(timer);
    if (!document.hidden && !isOver) timer = setTimeout(ask, pace.wait);
  }

  document.addEventListener("visibilitychange", () => {
    pace.wait = wait;
    plan();
  });
  plan();
  return pace;
}

export const slower = (wait) => Math.min(wait * 1.25, 30_000);
