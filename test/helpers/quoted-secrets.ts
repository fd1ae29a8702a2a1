/** The key of the provider that is asked, and secrets that belong to others. */
export const OWN_KEY = "sk-proj-Zq8Xv2Lm9Rt4Wp7Ks1Nd6Hb3";
export const OTHER_KEY = "sk-ant-api03-Jf5Gy0Ua8Ce2Qo4Vi6Tk";
export const PASSWORD = "hunter2-Tz9-marmot";
export const QUESTION =
  "Please tell my landlord at 12 Elm Street that the third pipe is leaking again today";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const percent = (text: string) => Buffer.from(text).toString("hex").replace(/../g, "%$&");

/** What a provider writes, and what of it must not be seen anywhere. */
export const QUOTES: readonly (readonly [text: string, ...secrets: string[]])[] = [
  [`Incorrect API key provided: ${OWN_KEY}.`, OWN_KEY],
  [`Incorrect API key provided: ${OWN_KEY.slice(0, 14)}.`, OWN_KEY.slice(0, 14)],
  [`Incorrect API key provided: ${OWN_KEY.slice(-10)}.`, OWN_KEY.slice(-10)],
  [`Incorrect API key provided: ${OWN_KEY.slice(6, 16)}.`, OWN_KEY.slice(6, 16)],
  [`key ${OWN_KEY.toLowerCase()}`, OWN_KEY.toLowerCase()],
  [`key ${OWN_KEY.slice(8, 20).toUpperCase()}`, OWN_KEY.slice(8, 20).toUpperCase()],
  [`key ${OWN_KEY.slice(0, 9)}\u200b${OWN_KEY.slice(9)}`, OWN_KEY.slice(0, 9), OWN_KEY.slice(9)],
  [`key ${OWN_KEY.slice(0, 12)}\u202e${OWN_KEY.slice(12)}`, OWN_KEY.slice(12)],
  [`key "${OWN_KEY}"`, OWN_KEY],
  [`key=${OWN_KEY}&x=1`, OWN_KEY],
  [`other ${OTHER_KEY}`, OTHER_KEY],
  [`other ${OTHER_KEY.slice(9, 22)}`, OTHER_KEY.slice(9, 22)],
  [`in base64 ${base64(OWN_KEY)}`, base64(OWN_KEY)],
  [`in base64 ${base64(`Bearer ${OWN_KEY}`)}`, base64(OWN_KEY).slice(4, 20)],
  [`in base64 ${base64(`x${OWN_KEY}`).slice(2, 22)}`, base64(`x${OWN_KEY}`).slice(2, 22)],
  [`in base64 ${base64(OTHER_KEY).slice(4, 16)}`, base64(OTHER_KEY).slice(4, 16)],
  [`in hex ${Buffer.from(OWN_KEY).toString("hex")}`, Buffer.from(OWN_KEY).toString("hex")],
  [`encoded ${percent(OWN_KEY)}`, percent(OWN_KEY)],
  [`encoded ${percent(OWN_KEY).toUpperCase()}`, percent(OWN_KEY).toUpperCase()],
  [`encoded ${encodeURIComponent(PASSWORD)}`, PASSWORD],
  [`at https://ada:${PASSWORD}@proxy.example/v1`, PASSWORD],
  ["at https://eve:geheim@proxy.example/v1", "geheim"],
  ["Bearer abcDEF123456ghi is wrong", "abcDEF123456ghi"],
  ["Authorization: Basic YWRhOmxvdmVsYWNl", "YWRhOmxvdmVsYWNl"],
  ["x-api-key: 0f9e8d7c6b5a", "0f9e8d7c6b5a"],
  ["?api_key=qwertz9876&page=1", "qwertz9876"],
  ["your token = tok9876543", "tok9876543"],
  ['{"password":"swordfish99"}', "swordfish99"],
  ["use sk-live-123456789 instead", "sk-live-123456789"],
  ["use gsk_abc123def456 instead", "gsk_abc123def456"],
  ["use AIzaSyD4x9Kq instead", "AIzaSyD4x9Kq"],
  ["account ada.lovelace+test@mail.example is closed", "ada.lovelace"],
  ["session 9f86d081884c7d659a2feaa0c55ad015 is gone", "9f86d081884c7d65"],
  ["data aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ= is bad", "aGVsbG8gd29ybGQ"],
  ["jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "eyJhbGciOiJIUzI1NiJ9"],
  [`you wrote: ${QUESTION}`, "12 Elm Street"],
  [`you wrote: ${JSON.stringify(QUESTION.slice(7))} and more`, "12 Elm Street"],
  [`you wrote: ${QUESTION.replaceAll(" ", "\n")}`, "Elm"],
  [`${"x ".repeat(140)}${OWN_KEY}`, OWN_KEY.slice(0, 9)],
  [`${"x ".repeat(3000)}${OWN_KEY}`, OWN_KEY.slice(0, 9)],
  ["\u001b]0;owned\u0007\u001b[31mred\r\nsecond line", "\u001b", "\n", "\r"],
];
