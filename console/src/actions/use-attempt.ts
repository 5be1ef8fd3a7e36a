import { useState } from 'react'
import { describePasskeyProblem } from './passkeys.ts'

/** Work that a form does, with what went wrong the last time. */
export type Attempt = {
  isBusy: boolean
  problem: string | null
  /** Does the work. One attempt at a time. */
  run: (work: () => Promise<unknown>) => Promise<void>
}

/** For forms that show a failure in themselves, and not as a notification. */
export function useAttempt(): Attempt {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await work()
    } catch (error) {
      setProblem(describePasskeyProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, problem, run }
}
