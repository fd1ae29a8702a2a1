import { adoptStyle } from "../parts/adopt-style.ts";
import { style } from "./plans.css";

adoptStyle(style);
