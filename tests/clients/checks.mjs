// What the Node clients share: where to ask, and how a check is told.
export const QUESTION = "How long does the warranty of the machine last?";
export const ANSWER = "two years";
export const places = JSON.parse(process.env.QUIRE_PLACES);

export function check(what, held) {
  console.log(`  ${held ? "ok" : "FAILED"}  ${what}`);
  if (!held) process.exit(1);
}

/** Whether this throws such an error. */
export async function raises(work, also = () => true) {
  try {
    await work();
  } catch (error) {
    return also(error);
  }
  return false;
}
