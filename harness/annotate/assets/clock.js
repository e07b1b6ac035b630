"use strict";
// How long a text is in front of somebody's eyes: the clock stops while the page is hidden or paused, and after two idle minutes.

const IDLE_MS = 120000;

class Clock {
  /** @param spend called with the milliseconds that have passed */
  constructor(spend) {
    this.spend = spend;
    this.since = null;
    this.touched = 0;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.resume()));
    for (const kind of ["keydown", "pointerdown", "pointermove", "scroll"]) {
      document.addEventListener(kind, () => this.touch(), { passive: true, capture: true });
    }
  }

  start() {
    this.running = true;
    this.resume();
  }

  resume() {
    if (this.running && this.since === null) this.since = this.touched = performance.now();
  }

  touch() {
    if (this.since !== null && performance.now() - this.touched > IDLE_MS) {
      this.stop();
      this.resume();
    }
    this.touched = performance.now();
  }

  /** Report the time since the start; whoever was idle is counted up to the idle limit. */
  stop() {
    if (this.since === null) return;
    this.spend(Math.min(performance.now(), this.touched + IDLE_MS) - this.since);
    this.since = null;
  }

  end() {
    this.stop();
    this.running = false;
  }
}
