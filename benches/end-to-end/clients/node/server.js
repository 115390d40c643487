// Where the server under test listens, and a mailbox: messages arrive when they like, tests ask for
// the next one.

export const port = Number(process.env.GOBLIN_PORT);

/** The longest that anything may take before it counts as hanging, in milliseconds. */
export const deadline = 20_000;

export class Mailbox {
  #messages = [];
  #waiting = [];

  /** Takes a message in; its parts become an array. */
  put = (...message) => {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(message);
    else this.#messages.push(message);
  };

  /** The next message, or a rejection when none comes in time. */
  next() {
    if (this.#messages.length > 0) return Promise.resolve(this.#messages.shift());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no message came')), deadline);
      this.#waiting.push((message) => {
        clearTimeout(timer);
        resolve(message);
      });
    });
  }
}
