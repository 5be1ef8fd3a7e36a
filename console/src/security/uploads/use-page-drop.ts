import { useEffect, useEffectEvent, useState } from 'react'

/**
 * Files can be dropped anywhere on the page: a browser that drops one beside the area would leave
 * the page and show the file. Returns whether files are held over it.
 */
export function usePageDrop(onDrop: (data: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false)
  const drop = useEffectEvent(onDrop)
  useEffect(() => {
    const stop = new AbortController()
    const listen = (type: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void) =>
      addEventListener(type, (event) => holdsFiles(event) && act(event), { signal: stop.signal })
    listen('dragover', (event) => {
      event.preventDefault()
      setOver(true)
    })
    listen('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) setOver(false)
    })
    listen('drop', (event) => {
      event.preventDefault()
      setOver(false)
      if (event.dataTransfer) drop(event.dataTransfer)
    })
    return () => stop.abort()
  }, [])
  return isOver
}

function holdsFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false
}
