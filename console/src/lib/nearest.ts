// Names that somebody may have meant.

/** Edits between two texts: letters put in, taken away or changed. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const line = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      line.push(Math.min(change, (above[j] as number) + 1, (line[j - 1] as number) + 1));
    }
    above = line;
  }
  return above[b.length] as number;
}

/** Longest name that is compared, UTF-16 units. */
const LONGEST = 80;

/** The nearest of the names, at most so many; those that share too little with the text are left out. */
export function nearest(text: string, names: readonly string[], most = 3): string[] {
  const wanted = text.slice(0, LONGEST).toLowerCase();
  const near = (name: string) => {
    const other = name.slice(0, LONGEST).toLowerCase();
    const within = wanted.length > 2 && (other.includes(wanted) || wanted.includes(other));
    return { name, far: within ? 0 : distance(wanted, other), most: Math.max(2, Math.ceil(Math.max(wanted.length, other.length) * 0.4)) };
  };
  return names.map(near).filter((each) => each.far <= each.most).sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1)).slice(0, most).map((each) => each.name);
}
