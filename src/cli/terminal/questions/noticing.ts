import type { ExchangeView, FollowView } from "../../chat/front.ts";

/** Takes what happened, such as `The exchange is done`. */
type Stopped = (what: string) => void;

/** Wraps a view so that its end is reported: not one that the person made, and not a question, which comes next. */
export function noticing(view: ExchangeView, stopped: Stopped): ExchangeView {
  return {
    ...view,
    finish: async (result) => {
      await view.finish(result);
      if (result.state === "done") {
        stopped("The exchange is done");
      } else if (result.state === "waiting" && result.interrupts !== undefined) {
        stopped("The agent asks");
      }
    },
    fail: async () => {
      await view.fail();
      stopped("The exchange failed");
    },
  };
}

/** Wraps a view of an exchange of another process in the same way. */
export function noticingFollow(view: FollowView, stopped: Stopped): FollowView {
  return {
    ...view,
    show: (event) => {
      view.show(event);
      if (event.event === "exchange") {
        const { state } = event.data;
        if (state === "done" || state === "failed") {
          stopped(state === "done" ? "The exchange is done" : "The exchange failed");
        }
      }
    },
  };
}
