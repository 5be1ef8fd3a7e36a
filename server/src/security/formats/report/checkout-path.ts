/** Where CI systems check a repository out, unless told otherwise. */
const CHECKOUTS = [
  // GitHub: a step in a container, a job in one, and runners of each system.
  /^\/github\/workspace\//,
  /^\/__w\/[^/]+\/[^/]+\//,
  /^\/(?:home|Users)\/runner\/work\/[^/]+\/[^/]+\//,
  // GitHub and Azure on Windows: `D:/a/app/app/`, `D:/a/1/s/`.
  /^[a-z]:\/a\/[^/]+\/[^/]+\//i,
  /^\/home\/vsts\/work\/\d+\/s\//,
  /^\/builds\/[^/]+\/[^/]+\//,
  /^\/home\/circleci\/project\//,
  /^\/opt\/atlassian\/pipelines\/agent\/build\//,
  /^\/home\/travis\/build\/[^/]+\/[^/]+\//,
  /^\/var\/(?:lib\/jenkins|jenkins_home)\/workspace\/[^/]+\//,
  /^\/home\/jenkins\/(?:agent\/)?workspace\/[^/]+\//,
  /^\/drone\/src\//,
]

/** An absolute path with `/` between names, as it is in the repository where it stands in a CI system's checkout. */
export function withoutCheckout(path: string): string {
  for (const checkout of CHECKOUTS) {
    const [prefix] = checkout.exec(path) ?? []
    if (prefix !== undefined) return path.slice(prefix.length)
  }
  return path
}
