import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";

import { fitting, type Point, type Size, zoomed } from "./zoom.ts";

/** Elements of the picture, and the scale at which it is shown. */
export interface PictureParts {
  readonly box: RefObject<HTMLDivElement | null>;
  readonly image: RefObject<HTMLImageElement | null>;
  readonly scale: Signal<number>;
  /** The least scale that it begins with: a larger picture is scrolled. */
  readonly leastScale: number;
}

/**
 * Sizes and scrolls a picture in an element that scrolls: by keys, by the wheel with Ctrl, and by dragging with a
 * mouse. Fingers scroll it as everything else. As long as nobody changed the scale, all of the picture is in view.
 */
export class PictureWindow {
  readonly #box: PictureParts["box"];
  readonly #image: PictureParts["image"];
  readonly #scale: PictureParts["scale"];
  readonly #leastScale: number;
  #isFitted = true;

  constructor({ box, image, scale, leastScale }: PictureParts) {
    this.#box = box;
    this.#image = image;
    this.#scale = scale;
    this.#leastScale = leastScale;
  }

  /** Begins to follow the wheel, the mouse and the size of the window; returns the function that ends it. */
  attach(): () => void {
    const box = this.#box.current;
    if (box === null) {
      return () => undefined;
    }
    const ended = new AbortController();
    const { signal } = ended;
    // not passive: Ctrl with the wheel would change the size of the page
    box.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false, signal });
    box.addEventListener("keydown", (event) => this.#onKey(event), { signal });
    box.addEventListener("pointerdown", (event) => this.#onPress(event), { signal });
    const watched = new ResizeObserver(() => {
      if (this.#isFitted) {
        this.begin();
      }
    });
    watched.observe(box);
    return () => {
      ended.abort();
      watched.disconnect();
    };
  }

  /** Shows all of the picture, unless it would be too small to read. */
  begin(): void {
    this.#fit(this.#leastScale);
  }

  /** Shows all of the picture. */
  fit(): void {
    this.#fit(0);
  }

  #fit(least: number): void {
    const box = this.#box.current;
    const size = this.#size();
    if (box !== null && size !== null) {
      this.#isFitted = true;
      const scale = fitting(size, { width: box.clientWidth, height: box.clientHeight });
      this.#show(Math.max(least, scale));
    }
  }

  /** Changes the scale around a point of the window, its middle by default. */
  zoom(factor: number, at?: Point): void {
    const box = this.#box.current;
    if (box === null) {
      return;
    }
    this.#isFitted = false;
    const { scale, scroll } = zoomed(
      { scale: this.#scale.value, scroll: { x: box.scrollLeft, y: box.scrollTop } },
      factor,
      at ?? { x: box.clientWidth / 2, y: box.clientHeight / 2 },
    );
    this.#show(scale);
    box.scrollTo({ left: scroll.x, top: scroll.y, behavior: "instant" });
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    if (event.key === "+" || event.key === "=") {
      this.zoom(1.25);
    } else if (event.key === "-") {
      this.zoom(1 / 1.25);
    } else if (event.key === "0") {
      this.fit();
    } else {
      return;
    }
    event.preventDefault();
  }

  #onWheel(event: WheelEvent): void {
    const box = this.#box.current;
    if (!event.ctrlKey || box === null) {
      return;
    }
    event.preventDefault();
    const { left, top } = box.getBoundingClientRect();
    // a wheel's step is about 100 pixels, a touch pad sends many small ones
    const steps = Math.max(-1, Math.min(1, event.deltaY / 100));
    this.zoom(1.25 ** -steps, { x: event.clientX - left, y: event.clientY - top });
  }

  #onPress(event: PointerEvent): void {
    const box = this.#box.current;
    const isLink = event.target instanceof Element && event.target.closest("a") !== null;
    if (box === null || event.pointerType !== "mouse" || event.button !== 0 || isLink) {
      return;
    }
    const start = { x: box.scrollLeft + event.clientX, y: box.scrollTop + event.clientY };
    const ended = new AbortController();
    const { signal } = ended;
    box.setPointerCapture(event.pointerId);
    box.addEventListener(
      "pointermove",
      ({ clientX, clientY }) => box.scrollTo(start.x - clientX, start.y - clientY),
      { signal },
    );
    for (const name of ["pointerup", "pointercancel"] as const) {
      box.addEventListener(name, () => ended.abort(), { signal });
    }
  }

  #size(): Size | null {
    const image = this.#image.current;
    return image === null || image.naturalWidth === 0
      ? null
      : { width: image.naturalWidth, height: image.naturalHeight };
  }

  /** The element's own style changes at once, so that it can be scrolled right after. */
  #show(scale: number): void {
    const image = this.#image.current;
    const size = this.#size();
    this.#scale.value = scale;
    if (image !== null && size !== null) {
      image.style.width = `${Math.round(size.width * scale)}px`;
      image.style.height = `${Math.round(size.height * scale)}px`;
    }
  }
}
