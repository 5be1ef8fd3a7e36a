/** The default directories into which CI systems check out a repository. */
const CHECKOUTS = [
  // GitHub: a container step, a container job, and runners of each operating system.
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

/** The path from the top of the repository, if the path is in the checkout of a CI system. */
export function withoutCheckout(path: string): string {
  for (const checkout of CHECKOUTS) {
    const [prefix] = checkout.exec(path) ?? []
    if (prefix !== undefined) return path.slice(prefix.length)
  }
  return path
}
