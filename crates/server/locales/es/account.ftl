account-keys-lead = Para sus programas. Una clave puede hacer lo que usted puede hacer en las cajas de las que es administrador o propietario.
account-new-key = Clave nueva
account-your-new-key = Su clave nueva
account-copy-now = Cópiela ahora. No se vuelve a mostrar y nadie puede consultarla.
account-copy-key = Copiar clave
account-what-for = Para qué es
account-expires = Caduca
account-in-30-days = en 30 días
account-in-90-days = en 90 días
account-in-a-year = en un año
account-never = nunca
account-works-in = Funciona en
account-all-boxes = todas sus cajas, también las futuras
account-only-these = solo estas:
account-not-as = (como { $role } no puede usar la API)
account-may = Puede
account-visible-hint = Una clave visible en una página web solo debería poder buscar.
account-sites = Sitios web cuyas páginas pueden usarla
account-sites-hint = Solo para una clave en páginas web, como la del <a href="/account/integrations">chat para su sitio</a>: un sitio por línea. Déjelo vacío para programas.
account-on-pages-of = en páginas de { $sites }
account-create-key = Crear clave
account-no-keys = Todavía no hay claves.
account-keys = Claves
account-key = Clave
account-last-used = Último uso
account-state = Estado
account-since-small = desde el
account-revoke-confirm = ¿Revocar la clave { $name }? Los programas que la usan dejarán de funcionar.
account-revoke = Revocar
account-programs = Programas con acceso
account-program = Programa
account-expires-unless = Caduca si no se usa antes del
account-end-confirm = ¿Terminar el acceso de { $name }? No podrá continuar hasta que usted lo permita de nuevo.
account-use-it = Úsela
account-certificate = Este servidor usa un certificado autofirmado: <a href="/account/certificate" download>descargue quire-cert.pem</a> para que los programas confíen en él.
account-keep-secret = No ponga claves en URL ni en código público, ni en páginas web salvo que la clave nombre el sitio. Una clave enviada sin HTTPS o en una URL se marca aquí.
account-all-your-boxes = Todas sus cajas
account-no-boxes-left = Ya no queda ninguna caja
account-exposed-url = Enviada dentro de una URL el { $when }. Otras personas pueden haberla visto: revóquela y cree una nueva.
account-exposed-http = Enviada por HTTP sin cifrar el { $when }. Otras personas pueden haberla visto: revóquela y cree una nueva.
account-state-active = activa
account-state-expired = caducada
account-state-revoked = revocada
account-may-search = buscar y hacer preguntas
account-may-read = listar cajas y archivos, leer y descargar documentos
account-may-write = añadir, cambiar y eliminar archivos
account-may-manage = gestionar cajas, miembros y claves
account-you = Usted
account-plan = Plan
account-since = Desde
account-change-password = Cambiar contraseña
account-set-a-password = Establecer una contraseña
account-set-password = Establecer contraseña
account-current-password = Contraseña actual
account-new-password = Contraseña nueva
account-password-hint = Al menos { $count } caracteres. Esto cierra todas sus otras sesiones.
account-second-step = Segundo paso
account-second-on = Su cuenta pide un código de su aplicación de autenticación después de la contraseña.
account-second-lead = Un código de una aplicación de autenticación después de la contraseña, para que la contraseña sola no deje entrar a nadie.
account-change = Cambiar
account-second-set-up = Configurar un segundo paso
account-passkeys = Llaves de acceso
account-passkeys-lead = Inicie sesión con la huella, la cara o el PIN de su dispositivo, o con una llave de seguridad, en lugar de la contraseña.
account-passkeys-count = { $count ->
        [one] Su cuenta tiene { $count } llave de acceso para iniciar sesión en lugar de la contraseña.
       *[other] Su cuenta tiene { $count } llaves de acceso para iniciar sesión en lugar de la contraseña.
    }
account-passkeys-manage = Administrar llaves de acceso
account-your-passkeys = Sus llaves de acceso
account-no-passkeys = Todavía no hay llaves de acceso.
account-passkey = Llave de acceso
account-passkey-added = para { $host }, añadida el <time datetime="{ $since-iso }">{ $since }</time>
account-passkey-used = usada por última vez el <time datetime="{ $used-iso }">{ $used }</time>
account-passkey-add = Añadir una llave de acceso
account-passkey-name-hint = Para que la reconozca, por ejemplo «Portátil del trabajo».
account-passkey-remove = Quitar una llave de acceso
account-passkeys-address = Las llaves de acceso solo funcionan en una dirección con nombre: abra este servidor por su nombre, no por su dirección IP.
account-passkeys-most = Tiene { $count } llaves de acceso, el máximo de una cuenta. Quite una para añadir otra.
account-passkeys-missing = Para añadir una se necesitan JavaScript y un navegador que admita llaves de acceso.
account-sign-in-with = Iniciar sesión con { $provider }
account-connected = Su cuenta está vinculada: puede iniciar sesión con { $provider }.
account-your-password = Su contraseña
account-connect = Vincular { $provider }
account-look = Aspecto
account-colours = Colores en este navegador
account-as-system = como el sistema
account-light = claro
account-dark = oscuro
account-language = Idioma
account-language-of-pages = Idioma de estas páginas
account-language-of-browser = como el navegador
account-set-language = Establecer idioma
account-language-hint = Los documentos, las respuestas y la documentación siguen en sus propios idiomas.
account-signed-in = Dónde ha iniciado sesión
account-here = aquí
account-session = desde { $address }, desde el <time datetime="{ $since-iso }">{ $since }</time>, visto por última vez el <time datetime="{ $seen-iso }">{ $seen }</time>
account-end = Cerrar
account-end-which = la sesión con { $browser } desde { $address }
account-sign-out-everywhere = Cerrar todas las sesiones
account-recovery-codes = Códigos de recuperación
account-your-recovery-codes = Sus códigos de recuperación
account-recovery-hint = Cada uno le deja entrar una vez si pierde su aplicación. No se vuelven a mostrar: guárdelos en un lugar seguro.
account-on = Activado
account-codes-left = Su cuenta pide un código cuando inicia sesión con su contraseña. { $count ->
        [one] Queda { $count } código de recuperación
       *[other] Quedan { $count } códigos de recuperación
    }; para obtener otros, desactívelo y actívelo de nuevo.
account-code = Código
account-turn-off = Desactivar
account-set-up-app = Configure su aplicación
account-scan = Escanee esto con una aplicación de autenticación, escriba en ella la clave de abajo o <a href="{ $link }">abra la aplicación con ella</a> en este dispositivo.
account-type-key = Escriba esta clave en una aplicación de autenticación o <a href="{ $link }">abra la aplicación con ella</a> en este dispositivo.
account-qr = La clave como código QR
account-code-now = El código que muestra ahora
account-turn-on = Activar
account-off = Desactivado
account-set-up = Configurar
account-let-in = ¿Dejar entrar a { $name }?
account-consent = Un programa que se llama a sí mismo <strong>{ $name }</strong> pide usar sus cajas en su nombre. Cualquiera puede elegir ese nombre: continúe solo si usted mismo acaba de conectarlo.
account-it-may = Puede
account-in = En
account-every-box = y cada caja de la que pase a ser administrador o propietario
account-back-to = Se le envía de vuelta a
account-describes-itself = Se describe a sí mismo en <code>{ $address }</code>
account-consent-hint = No puede cambiar ni eliminar nada. Sus solicitudes usan las unidades de usted. Puede revocarlo en cualquier momento en Cuenta, Claves de API.
account-allow = Dejarlo entrar
account-decline = Rechazar
account-own-program = un programa en su propio equipo
account-own-app = una aplicación en su propio equipo ({ $name })
account-months = Meses
account-units-this-month = Unidades de este mes
account-used-of = <strong>{ $used }</strong> de { $total } usadas
account-units-used = Unidades usadas
account-left = Quedan { $left }; se renuevan el <time datetime="{ $iso }">{ $when }</time>.
account-per-day = Por día
account-units-per-day = Unidades por día
account-chart = Unidades por día de { $month }; el día más alto tiene { $top }
account-searches = búsquedas
account-answers = respuestas
account-per-key = Por clave
account-per-operation = Por operación
account-nothing-yet = Todavía nada.
account-calls = Llamadas
account-units = Unidades
account-operation = Operación
account-held = Lo que almacena y usa
account-what = Qué
account-used-of-allowed = Usado de lo permitido
account-raise-hint = Un operador de este servidor puede aumentar estos límites.
account-rate = Límite de frecuencia ahora
account-requests-in-window = Solicitudes en este intervalo
account-resets = Se renueva
account-requests-of-account = Solicitudes de su cuenta
account-requests-of-key = Solicitudes de la clave { $name }
account-key-named = Clave { $name }
account-of = { $used } de { $total }
account-api-only = Solo cuentan las solicitudes por la API.
account-boxes-owned = Cajas que le pertenecen
account-files-in-them = Archivos en ellas
account-files-waiting = Archivos en espera de proceso
account-bar = Día { $day }: { $searches } por búsquedas, { $answers } por respuestas
account-dashboard = Panel
account-operation-search = Búsquedas
account-operation-chat = Respuestas
account-operation-embeddings = Embeddings
account-operation-rerank = Reordenación
account-your-account = Su cuenta
account-webhooks-lead = Avise a sus programas cuando algo pasa en sus cajas. <a href="/docs/webhooks">Cómo los verifican los receptores</a>.
account-new-secret = Secreto nuevo
account-the-secret = El secreto del webhook
account-secret-hint = El receptor comprueba las firmas con él. Cópielo ahora: no se vuelve a mostrar.
account-copy-secret = Copiar secreto
account-webhooks-off = Este servidor no envía eventos; un operador puede activarlos con el ajuste <code>webhooks.enabled</code>.
account-stopped = detenido por su receptor
account-events = Eventos
account-queue = Cola
account-deliveries = Últimas entregas
account-delivered = entregado
account-failed = falló
account-send-again = Enviar de nuevo
account-send-again-which = número { $number }
account-rotate-confirm = ¿Crear un secreto nuevo? El anterior también sigue siendo válido un día.
account-webhook-delete-confirm = ¿Eliminar este webhook? Los eventos en espera no se enviarán.
account-delete = Eliminar
account-no-webhooks = Todavía no hay webhooks.
account-new-webhook = Webhook nuevo
account-address = Dirección
account-all-api-boxes = todas las cajas cuya API puede usar
account-create-webhook = Crear webhook
account-attempt-delivered = entregado ({ $status }) en { $took } ms
account-attempt-refused = el receptor respondió { $status }
account-attempt-silent = sin respuesta
account-event-ready = un archivo está listo
account-event-warnings = un archivo está listo, con advertencias
account-event-failed = un archivo no se pudo leer
account-event-replaced = un archivo tiene una versión nueva
account-event-deleted = se eliminó un archivo
account-event-exposed = se envió una clave donde otros pueden verla
account-event-synced = se sincronizó una fuente de una caja
account-event-language = una caja cambió al modelo de sus idiomas
account-event-unanswered = una pregunta no encontró nada en una caja
account-webhook-all = todas sus cajas
account-events-waiting = { $count ->
        [one] { $count } evento en espera
       *[other] { $count } eventos en espera
    }
account-integrations-lead = Cómo usan este servidor otros programas. Donde dice <code>quire_…</code>, ponga una clave suya: <a href="/account/keys">Claves de API</a>. Más en <a href="/docs/integrations">Connect other programs</a>.
account-integrations-none = Los programas usan cajas de las que usted es administrador o propietario, y todavía no tiene ninguna: ponga el id de una donde dice <code>BOX_ID</code>.
account-show = Mostrar
account-integrations-certificate = Este servidor usa un certificado autofirmado. Indique a cada programa que confíe en él: <a href="/account/certificate" download>descargue quire-cert.pem</a>. Los asistentes en la nube, como Claude y ChatGPT en la web, necesitan un certificado de confianza pública y una dirección a la que puedan llegar.
account-copy-what = { $what } para { $program }
account-playground-lead = Pruebe la API. Las solicitudes son reales: cambian lo que dicen, y las búsquedas y respuestas cuestan unidades. <a href="/docs/api">La referencia de la API</a> explica cada una.
account-request = Solicitud
account-api-key = Clave de API
account-playground-key = Una de <a href="/account/keys">sus claves</a>. Solo se envía a este servidor y se olvida cuando sale de la página.
account-body = Cuerpo
account-playground-script = Para enviar se necesita JavaScript, que está desactivado en este navegador.
account-send = Enviar
account-same-curl = Lo mismo con curl
account-the-curl = la orden de curl
account-answer = Respuesta
account-steps-claude = Settings, Connectors, Add custom connector: escriba la dirección. Claude abre una página de este panel en la que usted lo deja entrar; no necesita clave. En Claude Code, use la orden.
account-steps-chatgpt = Settings, Apps &amp; Connectors, con el modo de desarrollador activado: cree un conector con esta dirección como servidor MCP y OAuth como autenticación. Usted lo deja entrar en una página de este panel; no necesita clave.
account-steps-cursor = Ponga esto en ~/.cursor/mcp.json. Sin los encabezados, Cursor le pide que lo deje entrar en una página de este panel. VS Code y otros que tienen un archivo así aceptan lo mismo.
account-steps-open-webui = Admin Settings, Connections, OpenAI API: la dirección y una clave. Cada caja es entonces un modelo cuyas respuestas llevan citas. En Documents, la misma dirección sirve de motor de embeddings (OpenAI) y de extracción de contenido (External), y la segunda de reordenador externo.
account-steps-dify = Knowledge, External Knowledge API: añada este punto de acceso con una clave. Después conecte una base de conocimiento externa con el id de la caja.
account-steps-n8n = Añada el nodo MCP Client Tool con este punto de acceso, HTTP Streamable como transporte y autenticación bearer con una clave. El nodo HTTP Request funciona con la API.
account-steps-widget = Un chat para su sitio. Cree una clave para esta caja que solo pueda buscar y que nombre su sitio, por ejemplo https://www.example.org. Después ponga esta etiqueta con esa clave en sus páginas: tendrán un botón que abre un chat sobre la caja. Quien pueda ver las páginas puede preguntar por todo lo que hay en la caja, y se consumen sus unidades.
account-steps-curl = Busca en la caja.
account-steps-python = El cliente está en sdk/python del repositorio (quire-sdk).
account-steps-typescript = El cliente está en sdk/typescript del repositorio (quire-sdk).
account-kind-assistants = Asistentes
account-kind-platforms = Plataformas
account-kind-pages = Sus propias páginas
account-kind-own = Sus propios programas
account-copied-claude-code = Claude Code
account-copied-json = mcp.json
account-copied-reranker = Reordenador
account-copied-endpoint = Punto de acceso
account-copied-knowledge = Id de la base de conocimiento
account-copied-api = API
account-copied-tag = Etiqueta
account-copied-command = Orden
account-copied-environment = Entorno
account-notices = Notificaciones
account-notices-lead = Lo que requiere su atención. Cada aviso desaparece cuando desaparece su causa.
account-notices-none = Nada requiere su atención
account-notices-none-why = Aquí aparecen los archivos que no se pueden leer, las unidades que se agotan y las claves a punto de caducar.
account-notice-now = ahora
account-notice-soon = pronto
account-notice-failed = { $count ->
        [one] { $count } archivo de { $box } no se pudo leer.
       *[other] { $count } archivos de { $box } no se pudieron leer.
    }
account-notice-few-units = { $left ->
        [one] Queda { $left } unidad hasta <time datetime="{ $iso }">{ $when }</time>.
       *[other] Quedan { $left } unidades hasta <time datetime="{ $iso }">{ $when }</time>.
    }
account-notice-no-units = No quedan unidades. Las búsquedas y respuestas volverán a funcionar a partir del <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expires = La clave { $name } dejará de funcionar el <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-expired = La clave { $name } dejó de funcionar el <time datetime="{ $iso }">{ $when }</time>.
account-notice-key-exposed = La clave { $name } se envió donde otros podían leerla, el <time datetime="{ $iso }">{ $when }</time>. Sustitúyala.
account-notice-show-files = Ver los archivos
account-notice-show-usage = Ver el uso
account-notice-show-keys = Ver las claves
