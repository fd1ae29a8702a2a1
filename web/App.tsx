import type { JSX } from "preact";
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { Header } from "./Header.tsx";
import { needsLogin, readWhoami, whoami } from "./api.ts";
import { showAttention } from "./parts/attention.ts";
import { ConnectionNotice } from "./parts/ConnectionNotice.tsx";
import { Guard } from "./parts/Guard.tsx";
import { lazy } from "./parts/Lazy.tsx";
import { Link } from "./parts/Link.tsx";
import { type Route, route } from "./route.ts";
import { isSearching, openSearch } from "./search/is-searching.ts";
import { connection } from "./streams/streams.ts";

const List = lazy(async () => (await import("./list/List.tsx")).List);
const Session = lazy(async () => (await import("./session/Session.tsx")).Session);
const Search = lazy(async () => (await import("./search/Search.tsx")).Search, null);
const Plans = lazy(async () => (await import("./plans/Plans.tsx")).Plans);
const Service = lazy(async () => (await import("./service/Service.tsx")).Service);
const Costs = lazy(async () => (await import("./costs/Costs.tsx")).Costs);
const LoginPage = lazy(async () => (await import("./login/LoginPage.tsx")).LoginPage);
const Shared = lazy(async () => (await import("./shared/Shared.tsx")).Shared);

/** Loads the page of an address, if a document of the service names its code: it is then shown with the first drawing. */
export async function loadFirst({ page }: Route): Promise<void> {
  const first = page === "list" ? List : page === "session" ? Session : null;
  // without it, the page says what is wrong
  await first?.load().catch(() => undefined);
}

/** The whole page: its head, what is wrong with the connection, and the page of the address. */
export function App(): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const key = keyOf(route.value);
  useEffect(showAttention, []);
  useEffect(searchOnKey, []);
  useEffect(() => {
    // the link that was followed may be gone with its page, and the focus with it
    if (document.activeElement === document.body) {
      main.current?.focus({ preventScroll: true });
    }
  }, [key]);
  useSignalEffect(() => {
    // the service did not answer when the page was opened
    if (connection.value?.kind === "live" && whoami.peek() === null) {
      void readWhoami();
    }
  });
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <ConnectionNotice />
      <main ref={main} id="main" tabIndex={-1}>
        <Guard key={key}>
          <Page route={route.value} />
        </Guard>
      </main>
      {isSearching.value ? <Search /> : null}
    </>
  );
}

/** Opens the search with Ctrl-K, or Command-K. A visitor of a link sees one session alone. */
function searchOnKey(): () => void {
  const search = (event: KeyboardEvent): void => {
    if (event.key === "k" && (event.ctrlKey || event.metaKey) && mayRead()) {
      event.preventDefault();
      openSearch();
    }
  };
  addEventListener("keydown", search);
  return () => removeEventListener("keydown", search);
}

function mayRead(): boolean {
  // who it is may not be known yet: a key that is pressed meanwhile counts as the button does
  return whoami.value?.role !== "visitor" && route.value.page !== "shared" && !needsLogin.value;
}

/** Another session is another page: nothing of the one before is kept. */
function keyOf(route: Route): string {
  return "id" in route ? `${route.page}/${route.id}` : route.page;
}

function Page({ route }: { readonly route: Route }): JSX.Element {
  if (needsLogin.value && route.page !== "shared") {
    // once logged in, the reader is where the address says
    return <LoginPage />;
  }
  switch (route.page) {
    case "list":
      return <List />;
    case "session":
      return <Session key={route.id} id={route.id} />;
    case "plans":
      return <Plans />;
    case "service":
      return <Service />;
    case "costs":
      return <Costs />;
    case "login":
      return <LoginPage />;
    case "shared":
      return <Shared id={route.id} />;
    case "unknown":
      return (
        <p>
          There is no page at this address. <Link to="/">Show the sessions</Link>
        </p>
      );
  }
}
