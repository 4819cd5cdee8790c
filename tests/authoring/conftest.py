from small_course import course  # noqa: F401 - a fixture for every test here
