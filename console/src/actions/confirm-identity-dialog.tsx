import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useState } from 'react'
import { answerConfirmations } from '../api/client.ts'
import { sessionQuery } from '../api/session.ts'

const ConfirmIdentityModal = lazy(async () => ({
  default: (await import('./confirm-identity-modal.tsx')).ConfirmIdentityModal,
}))

type Answer = (confirmed: boolean) => void

/**
 * Asks for the password or a passkey before a dangerous operation (console.md §1). The dialog is
 * loaded when it is needed for the first time.
 */
export function ConfirmIdentityDialog() {
  const [answer, setAnswer] = useState<{ give: Answer } | null>(null)
  const [wasAsked, setWasAsked] = useState(false)
  const queries = useQueryClient()
  useEffect(
    () =>
      answerConfirmations((give) => {
        setAnswer({ give })
        setWasAsked(true)
      }),
    [],
  )
  const close = (confirmed: boolean) => {
    answer?.give(confirmed)
    setAnswer(null)
    if (confirmed) queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
  }
  return (
    wasAsked && (
      <Suspense>
        <ConfirmIdentityModal opened={answer !== null} onClose={close} />
      </Suspense>
    )
  )
}
