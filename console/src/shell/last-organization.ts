const KEY = 'shiplock-organization'

/** Remembers in this browser which organization was open. */
export function rememberOrganization(slug: string): void {
  localStorage.setItem(KEY, slug)
}

/** Of the organizations of the user, the one that was open last; else the first. */
export function lastOrganization<Known extends { slug: string }>(organizations: Known[]): Known | undefined {
  const slug = localStorage.getItem(KEY)
  return organizations.find((organization) => organization.slug === slug) ?? organizations[0]
}
