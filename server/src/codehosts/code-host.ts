/** A deployment as its code host knows it. */
export type HostDeployment = {
  repository: string
  environment: string
  commit_sha: string
  /** The host's own number of the run that waits, and where the host wants to hear of the decision. */
  run_id: number | null
  callback_url: string | null
}

export type HostDecision = { decision: 'approved' | 'rejected'; text: string }

/**
 * What we tell a code host. Calls are repeated until they succeed, so a host must take the same `key` twice without
 * doing it twice. They throw when the host cannot be reached or refuses.
 */
export type CodeHost = {
  /** Answers our protection rule on the host. */
  postDecision(deployment: HostDeployment, decision: HostDecision, key: string): Promise<void>
  /** Leaves a comment (Markdown) where people of the deployment will see it. */
  postComment(deployment: HostDeployment, text: string, key: string): Promise<void>
}

/** The connected code hosts by provider. */
export type CodeHosts = ReadonlyMap<string, CodeHost>
