/** The newest `size` keys, in the memory of this process. It forgets at a restart, and isn't shared between processes. */
export class MemorySeen {
  #keys = new Set();

  constructor(size = 10_000) {
    this.size = size;
  }

  async seen(key) {
    return this.#keys.has(key);
  }

  async mark(key) {
    this.#keys.delete(key);
    this.#keys.add(key);
    if (this.#keys.size > this.size) this.#keys.delete(this.#keys.values().next().value);
  }
}
