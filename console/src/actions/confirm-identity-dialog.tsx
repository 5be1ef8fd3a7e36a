import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { answerConfirmations } from '../api/client.ts'
import { sessionQuery } from '../api/session.ts'
import { lazyPart, ScriptNotice } from '../page/lazy-part.tsx'

const ConfirmIdentityModal = lazyPart(async () => (await import('./confirm-identity-modal.tsx')).ConfirmIdentityModal, {
  failed: ({ opened, onClose }) => opened && <NotConfirmed onClose={onClose} />,
})

/** The operation ends unconfirmed, instead of waiting for a dialog that will not come. */
function NotConfirmed({ onClose }: { onClose: Answer }) {
  const [close] = useState(() => () => onClose(false))
  return <ScriptNotice title="The dialog to confirm your identity could not be loaded" onShown={close} />
}

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
  return wasAsked && <ConfirmIdentityModal opened={answer !== null} onClose={close} />
}
