"use strict";
// Keeps answers in this browser (IndexedDB) from the moment they are given. Some browsers refuse that, for files above all.

class Storage {
  /** Asks the browser for the storage, before the texts are read: it answers meanwhile. */
  static ask() {
    const answered = new Promise((resolve, reject) => {
      const opening = indexedDB.open("judge-harness labelling", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("answers");
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = opening.onblocked = () => reject(opening.error);
    });
    answered.catch(() => {}); // `open` says what follows from it
    return answered;
  }

  /** The storage with the answers of an earlier visit to this page. `works` says whether the browser gives access at all. */
  static async open(answered) {
    const storage = new Storage();
    try {
      storage.database = await answered;
      storage.earlier = await storage._get(page.page);
      storage.works = true;
    } catch {
      storage.works = false;
    }
    return storage;
  }

  _put(key, value) {
    const change = this.database.transaction("answers", "readwrite", { durability: "strict" });
    change.objectStore("answers").put(value, key);
    return new Promise((resolve, reject) => {
      change.oncomplete = () => resolve(true);
      change.onerror = change.onabort = () => reject(change.error);
    });
  }

  _get(key) {
    const request = this.database.transaction("answers", "readonly").objectStore("answers").get(key);
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  /** Whether the storage takes what it is given: found out while people read the first screen, as it takes a visit to the disk. */
  async probe() {
    if (!this.works) return false;
    try {
      await this._put("probe", Date.now());
      this.works = (await this._get("probe")) !== undefined;
    } catch {
      this.works = false;
    }
    return this.works;
  }

  /** Read what is kept now; another tab may have written it. */
  async reread() {
    if (this.works) this.earlier = await this._get(page.page);
  }

  /**
   * Keep the answers, and return them; nothing if the browser refuses them. Where no lock keeps other tabs away (`alone` is false), their
   * answers are taken in: reading and writing are one transaction. With a lock one request is enough, which a closing page still sends.
   */
  async keep(answers, alone) {
    if (!this.works) return undefined;
    try {
      return alone ? (await this._put(page.page, answers), answers) : await this._putMerged(page.page, answers);
    } catch {
      this.works = false;
      return undefined;
    }
  }

  _putMerged(key, answers) {
    const change = this.database.transaction("answers", "readwrite", { durability: "strict" });
    const store = change.objectStore("answers");
    const reading = store.get(key);
    let merged = answers;
    reading.onsuccess = () => {
      if (reading.result) merged = Answers.merged(answers, reading.result);
      store.put(merged, key);
    };
    return new Promise((resolve, reject) => {
      change.oncomplete = () => resolve(merged);
      change.onerror = change.onabort = () => reject(change.error);
    });
  }
}

const storageAnswered = Storage.ask();
