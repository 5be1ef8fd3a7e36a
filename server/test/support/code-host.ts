import type { CodeHost, HostDecision, HostDeployment } from '../../src/codehosts/code-host.ts'

export type Posted =
  | { kind: 'decision'; deployment: HostDeployment; decision: HostDecision; key: string }
  | { kind: 'comment'; deployment: HostDeployment; text: string; key: string }

/** A code host that keeps what it is told, each key once, and that is away as often as the test says. */
export class FakeCodeHost implements CodeHost {
  readonly posted: Posted[] = []
  /** Calls in all, failed ones included. */
  calls = 0
  /** So many next calls fail before the host has taken anything. */
  failures = 0
  /** So many next calls fail although the host has taken what they said. */
  lostAnswers = 0

  async postDecision(deployment: HostDeployment, decision: HostDecision, key: string): Promise<void> {
    this.#take({ kind: 'decision', deployment, decision, key })
  }

  async postComment(deployment: HostDeployment, text: string, key: string): Promise<void> {
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
