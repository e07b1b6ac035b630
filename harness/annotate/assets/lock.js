"use strict";
// Lets one tab of a browser answer a page, so that two tabs do not count and order texts each for itself (Web Locks).

class PageLock {
  /** @param lost is called when another tab takes the page over */
  constructor(lost) {
    this.lost = lost;
    this.held = false; // whether other tabs are kept away
    this.elsewhere = false; // whether another tab has the page
  }

  /**
   * Ask for the page; `over` takes it from the tab that has it. Where the browser has no locks (pages of a server that is not encrypted), every
   * tab may answer: `held` stays false, and answers are merged.
   */
  take(over) {
    this.elsewhere = false;
    if (!navigator.locks) return Promise.resolve();
    return new Promise((resolve) => {
      const hold = (lock) => {
        this.held = Boolean(lock);
        this.elsewhere = !lock;
        resolve();
        return lock ? new Promise(() => {}) : undefined; // as long as the tab is open
      };
      navigator.locks.request("judge-harness labelling " + page.page, over ? { steal: true } : { ifAvailable: true }, hold).catch(() => {
        if (!this.held) return resolve(); // the browser refuses locks
        this.held = false;
        this.elsewhere = true;
        this.lost();
      });
    });
  }
}
