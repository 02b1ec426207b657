/** Says once, for all of the page, that the service does not answer; gone by itself when it does. */
import { useEffect, useState } from 'preact/hooks'
import { outage, stopTrying, type Trouble, tryNow } from '../service/connection.ts'

const told: Readonly<Record<Trouble, string>> = {
  unreachable: 'The service cannot be reached.',
  'not ready': 'The service is not ready.',
  'too many requests': 'There were too many requests, so this page waits.',
  failed: 'The service failed to answer.',
}

export function ConnectionBar() {
  const { value } = outage
  const retryAt = value?.retryAt
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (retryAt === undefined) return
    setNow(Date.now())
    const timer = window.setInterval(() => setNow(Date.now()), 500)
    return () => window.clearInterval(timer)
  }, [retryAt])
  const seconds = retryAt === undefined ? 0 : Math.max(1, Math.ceil((retryAt - now) / 1000))
  return (
    <div role="status" class="connection">
      {value && (
        <div class="connection-bar">
          <p>
            {told[value.trouble]}{' '}
            <span aria-live="off">
              {value.isStopped
                ? 'What you see may be out of date.'
                : retryAt === undefined
                  ? 'Trying again…'
                  : `Trying again in ${seconds} s.`}
            </span>
          </p>
          <button type="button" onClick={tryNow}>
            {value.isStopped ? 'Try again' : 'Try now'}
          </button>
          {!value.isStopped && (
            <button type="button" onClick={stopTrying}>
              Stop
            </button>
          )}
        </div>
      )}
    </div>
  )
}
