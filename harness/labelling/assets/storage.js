"use strict";
// Keeps answers in this browser (IndexedDB) from the moment they are given. Some browsers refuse that, for files above all.

class Storage {
  /** Opens the storage. `works` says afterwards whether it takes and returns answers. */
  static async open() {
    const storage = new Storage();
    try {
      storage.database = await Storage._request(Storage._opening());
      storage.earlier = await storage._probe();
      storage.works = true;
    } catch {
      storage.works = false;
    }
    return storage;
  }

  static _opening() {
    const opening = indexedDB.open("judge-harness labelling", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("answers");
    return opening;
  }

  static _request(request) {
    return new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = request.onblocked = () => reject(request.error);
    });
  }

  _put(key, value) {
    const change = this.database.transaction("answers", "readwrite", { durability: "strict" });
    change.objectStore("answers").put(value, key);
    return new Promise((resolve, reject) => {
      change.oncomplete = () => resolve(true);
      change.onerror = change.onabort = () => reject(change.error);
    });
  }

  /** The answers of an earlier visit to this page, or nothing. Rejects if the storage does not take what it is given. */
  _probe() {
    const change = this.database.transaction("answers", "readwrite", { durability: "relaxed" }); // one visit to the disk, as people wait for it
    const answers = change.objectStore("answers");
    answers.put(Date.now(), "probe");
    const [probe, earlier] = [answers.get("probe"), answers.get(page.page)];
    return new Promise((resolve, reject) => {
      change.oncomplete = () => (probe.result === undefined ? reject(new Error("nothing was kept")) : resolve(earlier.result));
      change.onerror = change.onabort = () => reject(change.error);
    });
  }

  /** Whether the answers are kept now. */
  async keep(answers) {
    if (!this.works) return false;
    try {
      return await this._put(page.page, answers);
    } catch {
      return (this.works = false);
    }
  }
}
