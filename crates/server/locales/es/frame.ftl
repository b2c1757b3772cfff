frame-skip = Ir al contenido
frame-description = quire: busque en sus documentos, léalos página por página y hágales preguntas.
frame-menu = Menú
frame-main = Principal
frame-boxes = Cajas
frame-search = Buscar
frame-account = Cuenta
frame-keys = Claves de API
frame-integrations = Integraciones
frame-playground = Zona de pruebas
frame-webhooks = Webhooks
frame-usage = Uso
frame-profile = Perfil
frame-help = Ayuda
frame-documentation = Documentación
frame-server = Servidor
frame-users = Usuarios
frame-plans = Planes
frame-system = Sistema
frame-audit = Registro de auditoría
frame-sign-out = Cerrar sesión
frame-box = Caja
frame-files = Archivos
frame-chat = Chat
frame-members = Miembros
frame-questions = Preguntas
frame-settings = Ajustes
frame-page = Página
frame-previous = Anterior
frame-next = Siguiente
frame-close = Cerrar
frame-start = Ir a la página de inicio
frame-request = Solicitud { $id }
frame-role-viewer = lector
frame-role-editor = editor
frame-role-admin = administrador
frame-role-owner = propietario
frame-may-viewer = leer, buscar y chatear
frame-may-editor = además, subir y eliminar archivos
frame-may-admin = además, gestionar miembros y ajustes, y usar la API
frame-may-owner = además, eliminar la caja o cederla
frame-count-files = { $count ->
        [one] { $count } archivo
       *[other] { $count } archivos
    }
frame-count-boxes = { $count ->
        [one] en { $count } caja
       *[other] en { $count } cajas
    }
frame-count-pages = { $count ->
        [one] { $count } página
       *[other] { $count } páginas
    }
frame-count-members = { $count ->
        [one] { $count } miembro
       *[other] { $count } miembros
    }
frame-count-passages = { $count ->
        [one] { $count } pasaje
       *[other] { $count } pasajes
    }
frame-count-vectors = { $count ->
        [one] { $count } vector
       *[other] { $count } vectores
    }
frame-count-units = { $count ->
        [one] { $count } unidad
       *[other] { $count } unidades
    }
frame-count-calls = { $count ->
        [one] { $count } llamada
       *[other] { $count } llamadas
    }
frame-size-b = { $size } B
frame-size-kb = { $size } KB
frame-size-mb = { $size } MB
frame-size-gb = { $size } GB
frame-size-tb = { $size } TB
frame-kind-mail = Correo
frame-kind-picture = Imagen
frame-kind-text = Texto
frame-kind-file = Archivo
frame-browser-on = { $browser } en { $system }
frame-browser-unknown = Un navegador desconocido
frame-refused = No tiene permiso para hacer esto
frame-too-many = Demasiados intentos
frame-sign-in-first = Inicie sesión primero
frame-no-units = No quedan suficientes unidades
frame-not-now = Esto no se puede hacer ahora
frame-no-page = Esta dirección no tiene página
frame-no-model = No se puede contactar con el modelo de lenguaje
frame-wrong-request = Hay algo incorrecto en la solicitud
frame-done-renamed = Se cambió el nombre de la caja.
frame-done-language = Se cambió el idioma. Si eso cambia el modelo, el índice se reconstruye; mientras tanto se puede usar la caja.
frame-done-box-deleted = Se eliminó la caja con todo su contenido.
frame-done-handed-over = Se cedió la caja.
frame-done-member-added = Se añadió el miembro.
frame-done-member-changed = Se cambió el rol; vale desde la próxima solicitud.
frame-done-member-removed = Se quitó el miembro.
frame-done-shared = Todos los miembros de esta caja pueden leer ahora la conversación tal como está.
frame-done-unshared = La conversación vuelve a ser solo suya.
frame-done-conversation-deleted = Se eliminó la conversación.
frame-done-expected = Se guardó lo que es correcto para la pregunta.
frame-done-question-removed = Se quitó la pregunta del conjunto de evaluación.
frame-done-left = Ha salido de la caja.
frame-done-withdrawn = Se retiró la invitación.
frame-done-file-changed = Se cambió el archivo.
frame-done-added = Se añadió el archivo y se está procesando.
frame-done-read-again = El archivo se está procesando de nuevo.
frame-done-key-revoked = Se revocó la clave; vale desde la próxima solicitud.
frame-done-program-revoked = El programa ya no tiene acceso desde la próxima solicitud.
frame-done-webhook-deleted = Se eliminó el webhook.
frame-done-replayed = El evento se está enviando de nuevo.
frame-done-profile = Se guardó su perfil.
frame-done-password = Se cambió su contraseña y se cerraron todas sus otras sesiones.
frame-done-second-step-removed = Se desactivó el segundo paso.
frame-done-passkey-added = Se añadió la llave de acceso; ya puede iniciar sesión con ella.
frame-done-passkey-removed = Se quitó la llave de acceso.
frame-done-session-ended = Se cerró esa sesión.
frame-done-connected = Su cuenta está vinculada; ya puede iniciar sesión de esa manera.
frame-done-confirmed = La dirección está confirmada; las invitaciones pendientes para ella ya tienen efecto.
frame-done-offered = La próxima persona que inicie sesión con esta dirección en el proveedor recibirá la cuenta.
frame-done-kept = Se canceló la cesión; la cuenta queda como estaba.
frame-done-unlocked = La cuenta está desbloqueada; el próximo inicio de sesión no tiene que esperar.
frame-done-user-changed = Se cambió la cuenta.
frame-done-plan = Se guardó el plan.
frame-done-signed-out = Se cerró su sesión.
frame-done-signed-out-everywhere = Se cerraron todas sus sesiones.
frame-name = Nombre
frame-email = Correo electrónico
frame-password = Contraseña
frame-copy = Copiar
frame-save = Guardar
frame-role = Rol
frame-actions = Acciones
frame-you = (usted)
frame-pages = Páginas
frame-remove = Quitar
frame-undo = Deshacer
frame-done-undone = El cambio se ha deshecho.
frame-done-model = Guardado. La próxima pregunta se responderá así.
