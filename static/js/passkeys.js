// <form data-passkey="create|get">: asks the browser for a passkey and sends its answer in the field "credential".
// How to ask is in #passkey-options, or at the address in data-options.
const KNOWN = {
  NotAllowedError: "The browser didn’t get a passkey. Try again.",
  InvalidStateError: "This device has a passkey for this account already.",
  SecurityError: "Passkeys don’t work at this address.",
};

async function options(form) {
  if (!form.dataset.options) return JSON.parse(document.getElementById("passkey-options").textContent);
  const response = await fetch(form.dataset.options, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(response.status);
  return (await response.json()).request_options;
}

async function create(form, { publicKey }) {
  const alone = form.elements.passwordless?.checked ?? false;
  const wanted = { residentKey: alone ? "required" : "discouraged", requireResidentKey: alone };
  if (alone) wanted.userVerification = "required";
  publicKey.authenticatorSelection = { ...publicKey.authenticatorSelection, ...wanted };
  return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
}

async function get(form, { publicKey }) {
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
}

const ASK = { create, get };

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue;
  form.hidden = false;
  const problem = form.querySelector("[data-passkey-problem]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.hidden = true;
    try {
      const credential = await ASK[form.dataset.passkey](form, await options(form));
      form.elements.credential.value = JSON.stringify(credential);
      form.submit();
    } catch (error) {
      problem.textContent = KNOWN[error.name] ?? "That didn’t work. Reload the page and try again.";
      problem.hidden = false;
    }
  });
}
