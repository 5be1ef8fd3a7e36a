/** The jobs that tell a code host, as they are queued: the answer's comment, and the decision. */
const ATTEMPTS_MAX = 12

export const POST_COMMENT = { name: 'deployments.post-comment', attemptsMax: ATTEMPTS_MAX }
export const POST_DECISION = { name: 'deployments.post-decision', attemptsMax: ATTEMPTS_MAX }
