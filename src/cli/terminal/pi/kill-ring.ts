export { KillRing } from "@earendil-works/pi-tui/dist/kill-ring.js";
