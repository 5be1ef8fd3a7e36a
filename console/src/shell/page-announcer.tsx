import { VisuallyHidden } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/**
 * Screen readers announce a document when it is loaded. Pages here replace each other in one
 * document, so their titles are announced instead.
 */
export function PageAnnouncer() {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const [first] = useState(path)
  const [title, setTitle] = useState('')
  useEffect(() => {
    if (path === first && title === '') return
    // The page sets its title in an effect of the same update.
    const frame = requestAnimationFrame(() => setTitle(document.title))
    return () => cancelAnimationFrame(frame)
  }, [path, first, title])
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {title}
    </VisuallyHidden>
  )
}
