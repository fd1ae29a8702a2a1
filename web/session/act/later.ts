import { lazy } from "../../parts/Lazy.tsx";

/** What is loaded when it is first shown: most visits of a session do not need it. */
export const Changes = lazy(async () => (await import("./Changes.tsx")).Changes);
export const DeleteSession = lazy(async () => (await import("./DeleteSession.tsx")).DeleteSession);
export const EndSession = lazy(async () => (await import("./EndSession.tsx")).EndSession);
export const ExportSession = lazy(async () => (await import("./ExportSession.tsx")).ExportSession);
export const Queue = lazy(async () => (await import("./Queue.tsx")).Queue, null);
export const SessionMenu = lazy(async () => (await import("./SessionMenu.tsx")).SessionMenu, null);
export const Settings = lazy(async () => (await import("./Settings.tsx")).Settings);
export const Share = lazy(async () => (await import("./Share.tsx")).Share);
export const Unsent = lazy(async () => (await import("./Unsent.tsx")).Unsent, null);
export const Undo = lazy(async () => (await import("./Undo.tsx")).Undo);
