/** Words that a search has because people speak in sentences: they restrict nothing. */
const fillers: ReadonlySet<string> = new Set(
  (
    'a an the all any every everything anything each some this that these those it its i me my we our us you your ' +
    'show find get list give display fetch see view look want need please search query bring pull ' +
    'is are was were be been being has have had do does did can could would should will ' +
    'of with where which who whose whom what when how why there here then than as at to in on for ' +
    'from by into about and also just only really very please ok okay hi hello ' +
    'record records row rows log logs request requests call calls result results span spans ' +
    'trace traces entry entries event events item items thing things one ones example examples case cases ' +
    'run runs make makes query queries first ordered sorted made happened occurred took returned having ' +
    'containing contains contain contained mention mentions mentioning mentioned including includes ' +
    'saying says said word words text phrase match matches matching matched like ' +
    'answer answers response responses model tag tags value values ' +
    "what's whats who's conversation conversations chat chats breakdown top tell much long average take takes time " +
    'use uses using used got asked everyone everybody either both , ; : ( ) ? - – —'
  ).split(' '),
)

export function isFiller(word: string): boolean {
  return fillers.has(word)
}
