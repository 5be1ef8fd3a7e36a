import type { AnsweredDeployment, AnswerHost, HostDecision } from '../../src/codehosts/answer-host.ts'

type Posted =
  | { kind: 'decision'; deployment: AnsweredDeployment; decision: HostDecision; key: string }
  | { kind: 'comment'; deployment: AnsweredDeployment; text: string; key: string }

/** A code host that stores each message once per key, and fails as often as the test requires. */
export class FakeCodeHost implements AnswerHost {
  readonly posted: Posted[] = []
  /** Number of calls, including failed ones. */
  calls = 0
  /** Number of next calls that fail before the message is stored. */
  failures = 0
  /** Number of next calls that fail after the message is stored. */
  lostAnswers = 0

  async postDecision(deployment: AnsweredDeployment, decision: HostDecision, key: string): Promise<void> {
    this.#take({ kind: 'decision', deployment, decision, key })
  }

  async postComment(deployment: AnsweredDeployment, text: string, key: string): Promise<void> {
    this.#take({ kind: 'comment', deployment, text, key })
  }

  #take(posted: Posted): void {
    this.calls += 1
    if (this.failures > 0) {
      this.failures -= 1
      throw new Error('the code host is away')
    }
    if (!this.posted.some(({ key }) => key === posted.key)) this.posted.push(posted)
    if (this.lostAnswers === 0) return
    this.lostAnswers -= 1
    throw new Error('the connection was lost')
  }
}
