// Who looks at the console.

export interface Me {
  name: string;
  tenant: string | null;
  roles: string[];
  tenants: string[] | null;
  /** Whether this server has tokens at all. */
  needs_token?: boolean;
}

/** Whether somebody else has logged in, or the same one with other rights: what the tab holds is not theirs. */
export function isOther(before: Me | null | undefined, now: Me): boolean {
  if (!before) return false;
  const told = ({ name, tenant, roles, tenants }: Me) => JSON.stringify([name, tenant, [...roles].sort(), tenants && [...tenants].sort()]);
  return told(before) !== told(now);
}
