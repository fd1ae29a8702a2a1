import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { PlanInfo } from "../../src/entries/client.ts";
import { Button } from "../parts/Button.tsx";
import "./adopt.ts";
import { plural } from "./plan-text.ts";
import { type PictureParts, PictureWindow } from "./picture-window.ts";

interface PictureProps {
  readonly plan: PlanInfo;
  /** The least scale at which all of it is shown without a request. */
  readonly leastScale?: number;
  /** Elements over the picture, whose sizes are multiples of `--scale`. */
  readonly children?: ComponentChildren;
}

/** The plan as a picture that can be enlarged and moved. It is an image: nothing in it can run. */
export function Picture({ plan, leastScale = 0, children }: PictureProps): JSX.Element {
  const address = useAddress(plan.picture);
  if (plan.picture === null) {
    return (
      <p class="muted">
        The plan is too large to draw here. Draw it with{" "}
        <code>reprise plan graph --format svg</code>.
      </p>
    );
  }
  const size = `${plural(plan.phases.length, "phase")} in ${plural(plan.waves.length, "wave")}`;
  return (
    <Viewer
      address={address.value}
      label={`Picture of the plan: ${size}. The lists after it say the same in words.`}
      name={`plan-${plan.run_id.slice(0, 8)}.svg`}
      leastScale={leastScale}
    >
      {children}
    </Viewer>
  );
}

/** An address of the picture's bytes, for as long as they are shown. */
function useAddress(picture: string | null): Signal<string | null> {
  const address = useSignal<string | null>(null);
  useEffect(() => {
    if (picture === null) {
      return undefined;
    }
    const made = URL.createObjectURL(new Blob([picture], { type: "image/svg+xml" }));
    address.value = made;
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  return address;
}

function Viewer(props: {
  readonly address: string | null;
  readonly label: string;
  readonly name: string;
  readonly leastScale: number;
  readonly children: ComponentChildren;
}): JSX.Element {
  const { address, label, name, leastScale, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLImageElement>(null);
  const scale = useSignal(1);
  const window = usePictureWindow({ box, image, scale, leastScale });
  return (
    <figure class="plan-picture">
      <div class="plan-actions">
        <Button aria-label="Smaller" onClick={() => window.zoom(1 / 1.25)}>
          −
        </Button>
        <output aria-label="Scale">{Math.round(scale.value * 100)} %</output>
        <Button aria-label="Larger" onClick={() => window.zoom(1.25)}>
          +
        </Button>
        <Button onClick={() => window.fit()}>Fit</Button>
        <Button onClick={() => window.zoom(1 / scale.value)}>100 %</Button>
        <span class="space" />
        {address === null ? null : (
          <a class="button" href={address} download={name}>
            Download SVG
          </a>
        )}
      </div>
      <section
        ref={box}
        class="picture-window"
        aria-label="The picture. Plus and minus change its size, 0 shows all of it, arrow keys move it."
        tabIndex={0}
      >
        {address === null ? null : (
          <div class="picture-sheet" style={{ "--scale": scale.value }}>
            <img
              ref={image}
              src={address}
              alt={label}
              draggable={false}
              onLoad={() => window.begin()}
            />
            {children}
          </div>
        )}
      </section>
    </figure>
  );
}

function usePictureWindow(parts: PictureParts): PictureWindow {
  const window = useMemo(() => new PictureWindow(parts), []);
  useLayoutEffect(() => window.attach(), []);
  return window;
}
