/** A deployment on its code host. */
export type AnsweredDeployment = {
  repository: string
  environment: string
  commit_sha: string
  /** The host's id of the waiting run, and the address that the host expects the decision at. */
  run_id: number | null
  callback_url: string | null
}

export type HostDecision = { decision: 'approved' | 'rejected'; text: string }

/**
 * What is sent to a code host. Calls are retried until they succeed, so a repeated `key` must have
 * no further effect. They throw if the host cannot be reached or refuses.
 */
export type AnswerHost = {
  /** Sends the decision of our protection rule to the host. */
  postDecision(deployment: AnsweredDeployment, decision: HostDecision, key: string): Promise<void>
  /** Posts a Markdown comment on the deployment. */
  postComment(deployment: AnsweredDeployment, text: string, key: string): Promise<void>
}

/** The connected code hosts, by provider. */
export type AnswerHosts = ReadonlyMap<string, AnswerHost>
