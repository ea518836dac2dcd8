// Line icons, 16 px, drawn here.
const PATHS: Record<string, string> = {
  quality: "M2 13h12M3 10l3-3 3 2 4-6",
  explore: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5 14 14",
  scores: "M3 13V8M6.5 13V3M10 13V6M13.5 13v-3",
  alerts: "M8 2.5a4 4 0 0 0-4 4V10l-1.5 2h11L12 10V6.5a4 4 0 0 0-4-4ZM6.5 14h3",
  review: "M3 3h10v10H3zM5.5 8l2 2 3.5-4",
  lab: "M6.5 2.5h3M7 2.5v4L3 13.5h10L9 6.5v-4M5 10h6",
  sampling: "M2 3h12l-4.5 5.5V13l-3-1.5v-3L2 3Z",
  system: "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
  sql: "M3 4l4 4-4 4M8.5 12.5H13",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5"
      stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="var(--accent)" />
      <path d="M4 14h12M5.5 11l3-4 3 2.5 3-4.5" fill="none" stroke="var(--on-accent)" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
